import { Session } from "./session";
import { FIRST_LOOK, Store } from "./store";
import { el } from "./dom";
const canvas = el("canvas");
document.body.append(canvas);
const session = new Session(new Store(FIRST_LOOK), canvas, (e) => console.error(e));
session.painter.resize(1280, 560);
void session.open().then(() => {
  const t = session.takes[0]!;
  session.orbit.frame(t.centre, t.radius, 1.1, true);
});
const loop = (now: number): void => { session.tick(now); requestAnimationFrame(loop); };
requestAnimationFrame(loop);
Reflect.set(window, "bunraku", session);
