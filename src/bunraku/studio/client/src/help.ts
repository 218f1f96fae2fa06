/** Keyboard shortcuts, on `?`. */

import { button, el } from "./dom";

const KEYS: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  ["Time", [
    ["Space", "play, pause"],
    ["← →", "one frame"],
    ["Shift ← →", "ten frames"],
    ["Home End", "ends of the range"],
    ["I O", "range from here, to here"],
    ["Shift I", "the whole range"],
    ["L", "loop"],
    ["J", "follow a run"],
  ]],
  ["View", [
    ["1 – 5", "side by side, overlaid, result, grid, wipe"],
    ["[ ]", "move the wipe's divider"],
    ["N", "next take"],
    ["V  Shift V", "next, previous overlay"],
    ["M", "wireframe"],
    ["C  P", "curves, side panel"],
    ["T", "light, dark"],
  ]],
  ["Camera", [
    ["F", "frame all, or the chosen region"],
    ["Z X Y", "from the front, the side, above"],
    ["W A S D", "turn"],
    ["Shift W A S D", "move"],
    ["+ −", "nearer, farther"],
    ["drag", "turn; with Shift or the right button: move"],
    ["wheel, pinch", "nearer, farther"],
    ["two fingers", "turn; with Shift: move"],
  ]],
  ["Direct", [
    ["Ctrl Enter", "run"],
    ["Ctrl Z", "undo; with Shift: redo"],
    ["← → ↑ ↓", "on a key: move it; with Shift farther"],
    ["Delete", "on a key: delete it"],
  ]],
  ["Paint, Keys", [
    ["B E G Q", "paint: brush, erase, fill, choose"],
    [", .", "paint: a smaller, a larger brush"],
    ["N", "paint: a new region"],
    ["G R E", "keys: move, turn, scale"],
    ["K", "keys: one more on this frame"],
  ]],
  ["Take away", [
    ["U", "copy a link"],
    ["K", "save a still"],
    ["Esc", "choose nothing, close"],
    ["?", "this page"],
  ]],
];

let dialog: HTMLDialogElement | null = null;

export function showHelp(): void {
  if (dialog === null) {
    const close = button("Close", "Close", () => dialog?.close(), { class: "word" });
    const parts = KEYS.map(([title, keys]) =>
      el("section", {}, el("h3", {}, title), el("dl", {}, ...keys.flatMap(([key, does]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, does)]))),
    );
    dialog = el("dialog", { class: "help", "aria-label": "Keyboard shortcuts" }, el("div", { class: "columns" }, ...parts), close);
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog?.close();
    });
    document.body.append(dialog);
  }
  if (dialog.open) dialog.close();
  else dialog.showModal();
}
