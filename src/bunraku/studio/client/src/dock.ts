/** What lies under the views: playback, the time line, curves; one playhead through all of it. */

import { makeCurves } from "./curves";
import { el } from "./dom";
import type { Session } from "./session";
import { makeTimeline, shareOf } from "./timeline";
import { makeFrameField, makeTransport } from "./transport";

export interface Dock {
  readonly root: HTMLElement;
  /** where lanes go that run with the time line */
  readonly tracks: HTMLElement;
}

export function makeDock(session: Session): Dock {
  const { lanes, menu } = makeCurves(session);
  const head = el("div", { class: "playhead" });
  const rail = el("div", { class: "rail", "aria-hidden": "true" }, head);
  const time = el("div", { class: "timerow" }, makeFrameField(session), makeTimeline(session));
  const show = (): void => {
    head.style.left = `${100 * shareOf(session, session.player.place)}%`;
  };
  session.on("frame", show);
  session.on("takes", show);
  const tracks = el("div", { class: "tracks" }, time, lanes, rail);
  return { root: el("section", { class: "dock", "aria-label": "Time" }, makeTransport(session, menu), tracks), tracks };
}
