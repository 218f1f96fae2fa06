/** The directing side of the page, where `bunraku direct` serves it. */

import { el } from "../dom";
import { activate } from "../hand";
import type { Knob } from "../messages";
import type { Panel } from "../panel";
import type { Session } from "../session";
import { Desk } from "./desk";
import { changesPage } from "./diff";
import { KeyLane } from "./lane";
import { KeysPage } from "./keyspage";
import { directPage } from "./page";
import { PaintPage } from "./paintpage";
import { Sketch } from "./sketch";

export interface Directing {
  readonly desk: Desk;
  readonly lane: KeyLane;
  readonly sketch: Sketch;
  readonly painting: PaintPage;
  readonly posing: KeysPage;
}

export interface Around {
  readonly session: Session;
  readonly panel: Panel;
  readonly stage: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  /** where lanes under the time line go */
  readonly tracks: HTMLElement;
  say(text: string): void;
  /** takes are asked for anew */
  reopen(): Promise<void>;
}

export function direct({ session, panel, stage, canvas, tracks, say, reopen }: Around): Directing {
  const arrived = async (take: number, mine: boolean): Promise<void> => {
    try {
      const first = session.takes.length === 0;
      await reopen();
      if (!mine && !first) return say("Another window made a take; it is among the takes.");
      if (!first) session.store.set({ other: session.look.active, shown: [...session.look.shown, take] });
      activate(session, take);
      session.store.set({ follow: true });
    } catch (error) {
      session.failed(error);
    }
  };
  const desk = new Desk(session, say, arrived);
  const lane = new KeyLane(session, desk);
  tracks.append(lane.root);
  const openKeys = (knob: Knob): void => lane.toggle(knob);
  document.body.classList.add("directing");
  panel.addPage("Changes", changesPage(desk));
  panel.addPage("Direct", directPage({ session, desk, say, openKeys }), true);
  const sketch = new Sketch(session, desk);
  const painting = new PaintPage(sketch, canvas, say), posing = new KeysPage(sketch);
  stage.append(painting.brush.ring);
  session.on("drawn", () => painting.brush.drawn());
  tracks.append(posing.lane.root);
  panel.addPage("Paint", painting.root, false, (on) => {
    sketch.show(on);
    session.tool = on ? painting.brush : null;
    painting.brush.hover(null);
    painting.seen(on);
  });
  panel.addPage("Keys", posing.root, false, (on) => {
    sketch.show(on);
    session.tool = on ? posing.gizmo : null;
    posing.seen(on);
  });
  const hint = el("p", { class: "hint" }, "No take yet: Run makes the first one.");
  stage.append(hint);
  const hide = (): void => {
    hint.hidden = session.takes.length > 0 || session.guest !== null;
    document.body.classList.toggle("no-takes", session.takes.length === 0 && session.guest === null);
  };
  session.on("takes", hide);
  hide();
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLInputElement && event.target.type === "text";
    if (typing || event.altKey || document.querySelector("dialog[open]") !== null) return;
    const page = painting.root.isConnected ? painting : posing.root.isConnected ? posing : null;
    if (page === null || !page.key(event)) return;
    event.preventDefault();
    event.stopPropagation();
  }, true);
  listen(desk);
  return { desk, lane, sketch, painting, posing };
}

function listen(desk: Desk): void {
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
    const at = event.target;
    const typing = at instanceof HTMLInputElement && (at.type === "text" || at.type === "search") && at.value !== at.defaultValue;
    const key = event.key.toLowerCase();
    if (key === "enter") void desk.run();
    else if (typing && at.matches(":focus")) return;
    else if (key === "z") void (event.shiftKey ? desk.redo() : desk.undo());
    else if (key === "y") void desk.redo();
    else return;
    event.preventDefault();
  });
}
