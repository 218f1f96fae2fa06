/** What someone does to time and takes by hand, whichever button, key or line is used for it. */

import { clamp } from "./dom";
import type { Session } from "./session";

/** To a place of the time line, to stay there: a run is not followed any longer. */
export function goTo(session: Session, place: number): void {
  session.player.play(false);
  session.store.set({ follow: false });
  session.player.seek(place);
}

export const step = (session: Session, by: number): void => goTo(session, clamp(session.player.place + by, 0, session.lastReady()));

export const toFirst = (session: Session): void => goTo(session, session.player.range.first);

export const toLast = (session: Session): void => goTo(session, Math.min(session.player.range.last, session.lastReady()));

export function playOrPause(session: Session): void {
  session.store.set({ follow: false });
  session.player.play(!session.player.playing);
}

/** Makes a take the active one; in a wipe, where it is the right one already, the two change sides. */
export function activate(session: Session, number: number): void {
  const { store, look } = session;
  if (look.mode === "wipe" && look.other === number) store.set({ active: number, other: look.active });
  else if (look.mode === "grid" && !look.shown.includes(number)) store.set({ active: number, shown: [...look.shown, number].sort((a, b) => a - b) });
  else store.set({ active: number });
}

/** The take after the active one; in a grid among those that are in it. */
export function nextTake(session: Session): void {
  const { look, takes } = session;
  const among = look.mode === "grid" && look.shown.length > 0 ? look.shown : takes.map((take) => take.number);
  const next = among[(among.indexOf(look.active) + 1) % Math.max(among.length, 1)];
  if (next !== undefined) activate(session, next);
}

/** Puts a take on the right of a wipe; where it is the left one already, the two change sides. */
export function putRight(session: Session, number: number): void {
  const { store, look } = session;
  store.set(look.active === number ? { active: look.other, other: number } : { other: number });
}
