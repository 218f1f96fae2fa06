/** The page of `bunraku view`: puts the parts together and keeps them going. */

import { direct, type Directing } from "./direct/index";
import { makeDock } from "./dock";
import { el } from "./dom";
import { offerHook } from "./hook";
import { listenToKeys } from "./keys";
import { makeLegend } from "./legend";
import { keepAddress, restore } from "./link";
import { NewsReader } from "./news";
import { Notice } from "./notice";
import { makePanel } from "./panel";
import { Session } from "./session";
import { makeStage } from "./stage";
import { FIRST_LOOK, Store } from "./store";
import { followTheme } from "./theme";
import { makeToolbar } from "./toolbar";

/** [ms] between two knocks at a server that is gone */
const RETRY = 1500;

function begin(): void {
  const notice = new Notice(() => void comeBack());
  const canvas = el("canvas");
  const narrow = matchMedia("(max-width: 860px)");
  const session = new Session(new Store({ ...FIRST_LOOK, panel: !narrow.matches }), canvas, (error) => notice.failed(error));
  const say = (text: string): void => notice.say(text);
  const stage = makeStage(session, canvas);
  stage.append(makeLegend(session), notice.root);
  const dock = makeDock(session);
  const panel = makePanel(session);
  document.body.append(makeToolbar(session, say), el("main", {}, stage, dock.root, panel.root));
  narrow.addEventListener("change", () => session.store.set({ panel: !narrow.matches }));
  followTheme(session);
  listenToKeys(session, say);
  let directing: Directing | null = null;
  offerHook(session, notice, () => directing);
  const reader = new NewsReader(session, () => notice.back());

  const reopen = async (): Promise<void> => {
    const first = session.takes.length === 0;
    await session.open();
    if (first && session.takes.length > 0) firstLook(session);
    void reader.read();
  };
  const start = async (): Promise<void> => {
    await reopen();
    if (session.directed !== "") {
      directing ??= direct({ session, panel, stage, canvas, tracks: dock.tracks, say, reopen });
      await directing.desk.open();
      document.title = `${session.directed} – bunraku`;
    }
    notice.back();
    session.retry();
  };
  let knocking = false;
  async function comeBack(): Promise<void> {
    if (knocking) return;
    knocking = true;
    for (;;) {
      try {
        await start();
        break;
      } catch (error) {
        notice.failed(error);
        await new Promise((done) => window.setTimeout(done, RETRY));
      }
    }
    knocking = false;
  }
  void comeBack();
  canvas.addEventListener("webglcontextrestored", () => session.invalidate());
  const tick = (now: number): void => {
    requestAnimationFrame(tick); // first: what goes wrong in one picture must not keep the next from being drawn
    session.tick(now);
  };
  requestAnimationFrame(tick);
}

/** What the address says; else what suits what is open. */
function firstLook(session: Session): void {
  const { takes, store } = session;
  store.set({
    shown: takes.map((take) => take.number),
    other: Math.min(1, takes.length - 1),
    mode: takes.length > 1 ? "grid" : (takes[0]?.guide_faces ?? 0) > 0 ? "side" : "result",
    follow: takes.length === 1 && takes[0]?.state === "running",
  });
  const names = takes.map((take) => take.name).join(", ");
  document.title = `${names} – bunraku`;
  if (!restore(session, location.hash)) session.frameAll(true);
  keepAddress(session);
}

try {
  begin();
} catch (error) {
  document.body.append(el("p", { class: "impossible" },
    "This browser cannot draw in three dimensions (WebGL 2 is missing or switched off); " +
    "try a current Firefox, Chrome or Edge, and look whether its settings allow hardware acceleration."));
  throw error;
}
