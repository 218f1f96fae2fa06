/** The time line: what is made, what is here, the range, the playhead; marks where the report has something to say. */

import { clamp, dragged, el, onResize } from "./dom";
import { goTo, step } from "./hand";
import { frameText, niceStep } from "./numbers";
import type { Session } from "./session";

/** Where a place is along the track, 0 to 1: the middle of its cell. */
export const shareOf = (session: Session, place: number): number => (place + 0.5) / Math.max(session.player.count, 1);

export const placeAt = (session: Session, share: number): number =>
  clamp(Math.floor(share * session.player.count), 0, Math.max(session.player.count - 1, 0));

export function makeTimeline(session: Session): HTMLElement {
  const canvas = el("canvas", { "aria-hidden": "true" });
  const track = el("div", { class: "track", role: "slider", tabIndex: 0, "aria-label": "Frame" }, canvas);
  const handles = [rangeHandle(session, "first"), rangeHandle(session, "last")];
  const row = el("div", { class: "timeline" }, track, ...handles);
  dragged(track, (share) => {
    goTo(session, placeAt(session, share));
  });
  track.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key];
    if (by === undefined || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    step(session, by);
  });
  let waiting = false;
  const later = (): void => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      paint(session, canvas, row);
    });
  };
  const speak = (): void => {
    const { numbers } = session.shot;
    track.setAttribute("aria-valuemin", String(numbers[0] ?? 0));
    track.setAttribute("aria-valuemax", String(numbers.at(-1) ?? 0));
    track.setAttribute("aria-valuenow", String(session.frameNumber));
    track.setAttribute("aria-valuetext", `frame ${frameText(session.frameNumber)}`);
  };
  onResize(row, later);
  for (const topic of ["takes", "report", "buffered", "views"] as const) session.on(topic, later);
  for (const topic of ["takes", "frame"] as const) session.on(topic, speak);
  session.player.onChange(() => {
    const { first, last } = session.player.range;
    const moved = `${first} ${last}`;
    if (row.dataset["range"] !== moved) later();
    row.dataset["range"] = moved;
  });
  return row;
}

function rangeHandle(session: Session, end: "first" | "last"): HTMLElement {
  const first = end === "first";
  const label = first ? "First frame of the range" : "Last frame of the range";
  const handle = el("div", { class: `handle ${end}`, role: "slider", tabIndex: 0, "aria-label": label, title: `${label} (${first ? "I" : "O"})` });
  const move = (place: number): void => {
    const { range, count } = session.player;
    if (first) session.player.setRange(Math.min(place, range.last), range.last);
    else session.player.setRange(range.first, clamp(place, range.first, count - 1));
  };
  dragged(handle, (_, event) => {
    const box = handle.parentElement!.getBoundingClientRect();
    move(placeAt(session, (event.clientX - box.left) / box.width));
  });
  handle.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    move(session.player.range[end] + by);
  });
  const show = (): void => {
    const { range, count } = session.player;
    handle.style.left = `${(100 * (range[end] + (first ? 0 : 1))) / Math.max(count, 1)}%`;
    handle.setAttribute("aria-valuemin", String(session.shot.numbers[0] ?? 0));
    handle.setAttribute("aria-valuemax", String(session.shot.numbers.at(-1) ?? 0));
    handle.setAttribute("aria-valuenow", String(session.shot.numbers[range[end]] ?? 0));
  };
  session.player.onChange(show);
  session.on("takes", show);
  return handle;
}

function paint(session: Session, canvas: HTMLCanvasElement, row: HTMLElement): void {
  const ratio = devicePixelRatio;
  const width = row.clientWidth, height = row.clientHeight;
  canvas.width = Math.max(Math.round(width * ratio), 1);
  canvas.height = Math.max(Math.round(height * ratio), 1);
  const pen = canvas.getContext("2d");
  if (pen === null) return;
  pen.scale(ratio, ratio);
  const colour = palette(row);
  const { count, range } = session.player;
  const x = (place: number): number => (place / Math.max(count, 1)) * width;
  const middle = height - 9;
  pen.fillStyle = colour("--line");
  pen.fillRect(0, middle, width, 4);
  pen.fillStyle = colour("--made");
  pen.fillRect(0, middle, x(session.lastReady() + 1), 4);
  pen.fillStyle = colour("--here");
  for (const [from, to] of here(session)) pen.fillRect(x(from), middle, x(to) - x(from), 4);
  pen.fillStyle = colour("--veil");
  pen.fillRect(0, 0, x(range.first), height);
  pen.fillRect(x(range.last + 1), 0, width, height);
  ticks(session, pen, width, colour);
  marks(session, pen, x, middle, colour);
}

/** Runs of places that every take on the screen has here. */
function here(session: Session): [number, number][] {
  const runs: [number, number][] = [];
  const end = session.lastReady();
  for (let place = 0; place <= end; place++) {
    if (!session.isThere(place)) continue;
    const last = runs.at(-1);
    if (last !== undefined && last[1] === place) last[1] = place + 1;
    else runs.push([place, place + 1]);
  }
  return runs;
}

function ticks(session: Session, pen: CanvasRenderingContext2D, width: number, colour: (name: string) => string): void {
  const { numbers } = session.shot;
  if (numbers.length === 0) return;
  const first = numbers[0]!, last = numbers.at(-1)!;
  const apart = Math.max(niceStep(last - first + 1, width / 64), 1);
  pen.font = "10.5px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "top";
  for (let frame = Math.ceil(first / apart) * apart; frame <= last; frame += apart) {
    const middle = shareOf(session, session.shot.at(frame)) * width;
    pen.fillStyle = colour("--tick");
    pen.fillRect(Math.round(middle), 14, 1, 4);
    pen.fillStyle = colour("--soft");
    pen.fillText(frameText(frame), clamp(middle, 14, width - 14), 1);
  }
}

/** Where the report of the active take points, apart from what was met. */
function marks(session: Session, pen: CanvasRenderingContext2D, x: (place: number) => number, middle: number, colour: (name: string) => string): void {
  for (const { kind, frame } of session.reports.get(session.look.active)?.sentences ?? []) {
    if (frame === null || kind === "met") continue;
    pen.fillStyle = colour(`--${kind}`);
    pen.beginPath();
    const at = x(session.shot.at(frame) + 0.5);
    pen.arc(at, middle + 2, 3.2, 0, 2 * Math.PI);
    pen.fill();
  }
}

/** Colours of the style sheet, for a canvas. */
export function palette(element: Element): (name: string) => string {
  const style = getComputedStyle(element);
  return (name) => style.getPropertyValue(name);
}
