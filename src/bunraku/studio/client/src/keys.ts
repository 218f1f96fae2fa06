/** Keys that work wherever the focus is, except where something is typed. */

import { roundShare } from "./dom";
import { nextTake, playOrPause, step, toFirst, toLast } from "./hand";
import { showHelp } from "./help";
import { copyLink } from "./link";
import { saveStill } from "./picture";
import type { Session } from "./session";
import { toggleTheme } from "./theme";
import { MODES, nextOverlay } from "./toolbar";

type Act = (session: Session, event: KeyboardEvent) => void;

const TURN = 0.12;
const MOVE = 0.06;

const wipe = (by: number): Act => (session) => session.store.set({ split: roundShare(session.look.split + by) });

const turnOrMove = (x: number, y: number): Act => (session, event) => {
  if (event.shiftKey) session.orbit.pan(MOVE * x, MOVE * y);
  else session.orbit.orbit(TURN * x, TURN * y);
};

const ACTS: Record<string, Act> = {
  " ": playOrPause,
  arrowleft: (session, { shiftKey }) => step(session, shiftKey ? -10 : -1),
  arrowright: (session, { shiftKey }) => step(session, shiftKey ? 10 : 1),
  home: toFirst,
  end: toLast,
  i: ({ player }, { shiftKey }) => (shiftKey ? player.setRange(0, player.count - 1) : player.setRange(player.place, Math.max(player.range.last, player.place))),
  o: ({ player }) => player.setRange(Math.min(player.range.first, player.place), player.place),
  l: ({ player }) => player.setLoop(!player.loop),
  j: ({ store, look }) => store.set({ follow: !look.follow }),
  "[": wipe(-0.02),
  "]": wipe(0.02),
  n: nextTake,
  v: (session, { shiftKey }) => nextOverlay(session, shiftKey ? -1 : 1),
  m: ({ store, look }) => store.set({ wire: !look.wire }),
  c: ({ store, look }) => store.set({ chart: !look.chart }),
  p: ({ store, look }) => store.set({ panel: !look.panel }),
  t: toggleTheme,
  f: (session) => session.frameChosen(),
  z: ({ orbit }) => orbit.look(0, 0),
  x: ({ orbit }) => orbit.look(Math.PI / 2, 0),
  y: ({ orbit }) => orbit.look(0, 1.55),
  a: turnOrMove(-1, 0),
  d: turnOrMove(1, 0),
  w: turnOrMove(0, 1),
  s: turnOrMove(0, -1),
  "+": ({ orbit }) => orbit.dolly(1 / 1.12),
  "=": ({ orbit }) => orbit.dolly(1 / 1.12),
  "-": ({ orbit }) => orbit.dolly(1.12),
  k: (session) => void saveStill(session, 1).catch(session.failed),
  escape: ({ store }) => store.set({ region: null, regionTake: null }),
  "?": () => showHelp(),
};

/** Space and arrows belong to a button, a list or a field that has the focus. */
function isTyped(event: KeyboardEvent): boolean {
  const at = event.target;
  if (!(at instanceof HTMLElement)) return false;
  if (at instanceof HTMLInputElement && at.type !== "checkbox") return true;
  if (at instanceof HTMLSelectElement) return event.key.length === 1 || event.key.startsWith("Arrow");
  const presses = at instanceof HTMLButtonElement || at instanceof HTMLInputElement || at.tagName === "SUMMARY";
  return presses && (event.key === " " || event.key === "Enter");
}

/** After a click the keys are the player's again; whoever came to a button by keys keeps it. What opens a sheet keeps it too. */
function giveBackTheKeys(): void {
  let pointed = false;
  document.addEventListener("pointerdown", () => { pointed = true; }, true);
  document.addEventListener("keydown", () => { pointed = false; }, true);
  const release = (of: string) => (event: Event): void => {
    const at = event.target instanceof Element ? event.target.closest<HTMLElement>(of) : null;
    if (pointed && at !== null && document.activeElement === at) at.blur();
  };
  document.addEventListener("click", release("button:not([aria-expanded])"));
  document.addEventListener("change", release("select, input[type=checkbox]"));
}

export function listenToKeys(session: Session, say: (text: string) => void): void {
  giveBackTheKeys();
  document.addEventListener("keydown", (event) => {
    // What was typed is done: the keys are the player's again.
    if (event.target instanceof HTMLInputElement && event.target.type === "text" && (event.key === "Enter" || event.key === "Escape")) event.target.blur();
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyped(event)) return;
    if (document.querySelector("dialog[open]") !== null) return;
    const key = event.key.toLowerCase();
    const mode = MODES[Number(key) - 1];
    if (mode !== undefined) chooseMode(session, mode.mode);
    else if (key === "u") void copyLink(session, say);
    else if (ACTS[key] !== undefined) ACTS[key](session, event);
    else return;
    event.preventDefault();
  });
}

function chooseMode(session: Session, mode: (typeof MODES)[number]["mode"]): void {
  const several = session.takes.length > 1;
  const guided = (session.active?.guide_faces ?? 0) > 0;
  if ((mode === "grid" || mode === "wipe") && !several) return;
  if ((mode === "side" || mode === "over") && !guided) return;
  session.store.set({ mode });
}
