/** Curves of the report under the time line: one lane a quantity, one line a take. */

import { dragged, el, onResize } from "./dom";
import { goTo } from "./hand";
import { makeMenu, type Menu } from "./menu";
import type { Curve } from "./messages";
import { short } from "./numbers";
import { takeColour } from "./ramp";
import type { Session } from "./session";
import { isWithin, placeOf } from "./shotframes";
import { palette, placeAt, shareOf } from "./timeline";

/** below it a number on a logarithmic scale is noise [m] */
const ROUNDING = 1e-6;
const FIRST_SHOWN = 3;

interface Line {
  readonly take: number;
  readonly curve: Curve;
}

interface Lane {
  readonly name: string;
  readonly root: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  readonly title: HTMLElement;
  readonly reading: HTMLElement;
}

/** Takes whose curves are drawn: those on the screen. */
function lines(session: Session, name: string): Line[] {
  return session.seen.flatMap((take) => {
    const curve = session.reports.get(take)?.curves.find((each) => each.name === name);
    return curve === undefined ? [] : [{ take, curve }];
  });
}

/** Every curve some take on the screen has, once. */
function known(session: Session): Curve[] {
  const all = new Map<string, Curve>();
  for (const take of session.seen) for (const curve of session.reports.get(take)?.curves ?? []) if (!all.has(curve.name)) all.set(curve.name, curve);
  return [...all.values()];
}

/** Whether a curve is more than rounding: how far a guide is that is met says nothing at a glance. */
const tells = ({ curve }: Line): boolean => !curve.log || curve.values.some((value) => value !== null && Math.abs(value) > ROUNDING);

const chosen = (session: Session): readonly string[] =>
  session.look.curves ??
  known(session).map(({ name }) => name).filter((name) => lines(session, name).some(tells)).slice(0, FIRST_SHOWN);

export function makeCurves(session: Session): { lanes: HTMLElement; menu: Menu } {
  const root = el("div", { class: "lanes", role: "group", "aria-label": "Curves" });
  let lanes: Lane[] = [];
  const paintAll = (): void => {
    for (const lane of lanes) paintLane(session, lane);
    read();
  };
  const read = (): void => {
    for (const lane of lanes) readLane(session, lane);
  };
  const rebuild = (): void => {
    const there = new Set(known(session).map((curve) => curve.name));
    const names = chosen(session).filter((name) => there.has(name));
    if (names.join("\n") !== lanes.map((lane) => lane.name).join("\n")) {
      lanes = names.map((name) => makeLane(session, name));
      root.replaceChildren(...lanes.map((lane) => lane.root));
    }
    root.hidden = lanes.length === 0 || !session.look.chart;
    paintAll();
  };
  session.store.watch(["curves", "chart", "active", "mode", "shown", "other", "theme"], rebuild);
  for (const topic of ["report", "takes"] as const) session.on(topic, rebuild);
  session.on("frame", read);
  onResize(root, paintAll);
  return { lanes: root, menu: chooser(session) };
}

function chooser(session: Session): Menu {
  const sheet = el("div", { role: "group", "aria-label": "Curves to show" });
  const fill = (): void => {
    const shown = new Set(chosen(session));
    sheet.replaceChildren(
      ...known(session).map((curve) => {
        const box = el("input", { type: "checkbox", checked: shown.has(curve.name) });
        box.addEventListener("change", () => {
          const now = new Set(chosen(session));
          if (box.checked) now.add(curve.name);
          else now.delete(curve.name);
          session.store.set({ chart: true, curves: known(session).map((each) => each.name).filter((name) => now.has(name)) });
        });
        return el("label", {}, box, curve.title, el("small", {}, curve.unit));
      }),
    );
  };
  const menu = makeMenu(el("span", {}, "Curves", el("span", { "aria-hidden": "true" }, " ▴")), "Choose curves", sheet, fill);
  menu.root.classList.add("upward");
  return menu;
}

function makeLane(session: Session, name: string): Lane {
  const canvas = el("canvas", { "aria-hidden": "true" });
  const title = el("span", { class: "title" });
  const reading = el("span", { class: "reading" });
  const plot = el("div", { class: "plot" }, canvas);
  dragged(plot, (share) => {
    goTo(session, placeAt(session, share));
  });
  return { name, root: el("div", { class: "lane" }, el("div", { class: "gutter" }, title, reading), plot), canvas, title, reading };
}

function readLane(session: Session, lane: Lane): void {
  const parts = lines(session, lane.name).map(({ take, curve }) => {
    const of = session.takes[take];
    const value = of === undefined || !isWithin(of, session.frameNumber) ? null : (curve.values[placeOf(of, session.frameNumber)] ?? null);
    const part = el("b", {}, value === null ? "–" : short(value));
    if (session.seen.length > 1) part.style.color = takeColour(take);
    return part;
  });
  lane.reading.replaceChildren(...parts);
}

interface Scale {
  y(value: number): number;
  readonly low: number;
  readonly high: number;
}

/** A scale that holds every line; on a logarithmic one, nought and less lie where the least number above nought does. */
function scaleFor(drawn: readonly Line[], height: number): Scale | null {
  let low = Infinity, high = -Infinity, positive = Infinity;
  for (const { curve } of drawn) {
    for (const value of curve.values) {
      if (value === null) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
      if (value > 0) positive = Math.min(positive, value);
    }
  }
  if (!Number.isFinite(low)) return null;
  const log = drawn.some(({ curve }) => curve.log) && Number.isFinite(positive) && high > 0;
  if (!log && low > 0 && low < 0.5 * high) low = 0;
  const f = log ? (value: number): number => Math.log10(Math.max(value, positive)) : (value: number): number => value;
  const from = f(log ? positive : low), span = Math.max(f(high) - from, 1e-30);
  return { low: log ? positive : low, high, y: (value) => height - 4 - ((f(value) - from) / span) * (height - 9) };
}

function paintLane(session: Session, lane: Lane): void {
  const drawn = lines(session, lane.name);
  const { canvas } = lane;
  const box = canvas.parentElement!;
  const width = box.clientWidth, height = box.clientHeight, ratio = devicePixelRatio;
  if (width === 0) return;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const first = drawn[0]?.curve;
  lane.title.textContent = first === undefined ? "" : first.unit ? `${first.title} [${first.unit}]` : first.title;
  lane.root.title = first === undefined ? "" : `${first.title}${first.unit ? ` [${first.unit}]` : ""}${first.log ? ", logarithmic" : ""}`;
  const pen = canvas.getContext("2d");
  const scale = scaleFor(drawn, height);
  if (pen === null || scale === null) return;
  pen.scale(ratio, ratio);
  const colour = palette(box);
  const single = drawn.length === 1;
  drawn.forEach((line, i) => {
    // Where takes agree, each still shows under the next.
    pen.lineWidth = 1.4 + 1.3 * (drawn.length - 1 - i);
    stroke(session, pen, line, scale, width, single ? colour("--accent") : takeColour(line.take));
  });
  label(session, pen, drawn, scale, width, colour);
}

/** The line; where several frames share a pixel it goes through their least and largest, so that no peak is lost. */
function stroke(session: Session, pen: CanvasRenderingContext2D, { take, curve }: Line, scale: Scale, width: number, ink: string): void {
  const frames = session.takes[take]?.frames ?? [];
  pen.strokeStyle = ink;
  pen.lineJoin = "round";
  pen.beginPath();
  let before = -1, low = 0, high = 0, open = false;
  for (let i = 0; i < curve.values.length; i++) {
    const value = curve.values[i] ?? null;
    if (value === null) {
      open = false;
      continue;
    }
    const x = Math.round(2 * shareOf(session, session.shot.at(frames[i] ?? 0)) * width) / 2;
    const y = scale.y(value);
    if (!open) pen.moveTo(x, y);
    else if (x !== before) pen.lineTo(x, y);
    else if (y < low || y > high) {
      pen.lineTo(x, y);
    }
    low = x === before && open ? Math.min(low, y) : y;
    high = x === before && open ? Math.max(high, y) : y;
    before = x;
    open = true;
  }
  pen.stroke();
}

/** The largest number, where it is. */
function label(session: Session, pen: CanvasRenderingContext2D, drawn: readonly Line[], scale: Scale, width: number, colour: (name: string) => string): void {
  for (const { take, curve } of drawn) {
    const place = curve.values.findIndex((value) => value === scale.high);
    if (place < 0) continue;
    const x = shareOf(session, session.shot.at(session.takes[take]?.frames[place] ?? 0)) * width;
    const y = scale.y(scale.high);
    pen.fillStyle = colour("--ink");
    pen.beginPath();
    pen.arc(x, y, 2.2, 0, 2 * Math.PI);
    pen.fill();
    const text = short(scale.high);
    pen.font = "10.5px system-ui, sans-serif";
    pen.textBaseline = "top";
    const wide = pen.measureText(text).width;
    const left = x + 6 + wide > width ? x - 6 - wide : x + 6;
    pen.fillStyle = colour("--panel");
    pen.globalAlpha = 0.78;
    pen.fillRect(left - 2, 1, wide + 4, 12);
    pen.globalAlpha = 1;
    pen.fillStyle = colour("--soft");
    pen.fillText(text, left, 1.5);
    return;
  }
}
