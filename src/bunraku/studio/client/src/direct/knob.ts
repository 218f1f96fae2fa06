/** One setting to turn: its name, what it means, a slider, a field, a switch or a list, and whether it is keyed. */

import { button, el } from "../dom";
import type { Knob } from "../messages";
import { numberIn, short } from "../numbers";
import type { Session } from "../session";
import type { Desk } from "./desk";
import { allowed, held, isKeys, numberAt, scaleOf, shareIn, stepsOf, valueIn, withKey, type Scale } from "./range";

const KEYED = "M8 2.5 13.5 8 8 13.5 2.5 8z";

export const keyOf = (knob: Knob): string => knob.path.map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`)).join("").slice(1);

/** 'bend scale' for bend_scale */
export const nameOf = (knob: Knob): string => String(knob.path.at(-1)).replaceAll("_", " ");

export interface Desking {
  readonly session: Session;
  readonly desk: Desk;
  /** tells whoever directs what was done */
  readonly say: (text: string) => void;
  /** opens the lane in which a number is keyed */
  readonly openKeys: (knob: Knob) => void;
}

export class Control {
  readonly root: HTMLElement;
  private readonly reset: HTMLButtonElement;
  private readonly face: Face;

  constructor(
    private readonly at: Desking,
    private knob: Knob,
  ) {
    const name = nameOf(knob);
    this.face = faceOf(this, knob);
    this.reset = button("↺", `Take ${name} out of the file, so that the default holds`, () => void this.set(null, `${name} as usual`), { class: "reset" });
    const label = el("label", { for: this.face.id, title: knob.doc }, name);
    this.root = el("div", { class: "knob", "data-key": keyOf(knob) }, label, this.face.root, this.reset, el("p", { class: "doc" }, about(knob)));
    this.show(knob);
  }

  show(knob: Knob): void {
    this.knob = knob;
    const said = knob.value !== null;
    this.root.classList.toggle("said", said);
    this.reset.disabled = !said;
    this.face.show(knob);
  }

  get session(): Session {
    return this.at.session;
  }

  get current(): Knob {
    return this.knob;
  }

  openKeys(): void {
    this.at.openKeys(this.knob);
  }

  /** Writes a value, or at the frame shown a key where the knob is keyed. */
  put(value: number, gesture: string): void {
    const number = allowed(this.knob, value);
    const keys = this.knob.value;
    const name = nameOf(this.knob);
    if (!isKeys(keys)) void this.set(number, `${name} ${short(number)}`, gesture);
    else {
      const frame = Math.round(this.session.frameNumber);
      const ease = keys.find(([at]) => at === frame)?.[2];
      void this.set(withKey(keys, ease === undefined ? [frame, number] : [frame, number, ease]), `${name} keyed at frame ${frame}`, gesture);
    }
  }

  async set(value: unknown, about: string, gesture = ""): Promise<void> {
    const edited = await this.at.desk.edit([{ path: this.knob.path, value }], about, { gesture });
    if (edited === null) this.face.show(this.knob);
  }
}

function about(knob: Knob): string {
  const { low, high, unit } = knob;
  const ends = knob.kind === "number" || knob.kind === "whole"
    ? [low === null ? "" : `${knob.open ? "above" : "from"} ${short(low)}`, high === null ? "" : `up to ${short(high)}`].filter(Boolean).join(" ")
    : "";
  const usual = knob.otherwise || (knob.default === null ? "" : text(knob.default));
  return [`${knob.doc}${unit ? ` [${unit}]` : ""}`, ends, usual && `usually ${usual}`].filter(Boolean).join("; ");
}

const text = (value: unknown): string => (typeof value === "number" ? short(value) : Array.isArray(value) ? value.join(", ") : String(value));

interface Face {
  readonly root: HTMLElement;
  readonly id: string;
  show(knob: Knob): void;
}

let made = 0;
const newId = (): string => `knob${made++}`;

function faceOf(control: Control, knob: Knob): Face {
  if (knob.kind === "number" || knob.kind === "whole") return numberFace(control, knob);
  if (knob.kind === "flag") return flagFace(control);
  if (knob.kind === "choice") return choiceFace(control, knob);
  if (knob.kind === "numbers") return numbersFace(control, knob);
  return textFace(control);
}

function numberFace(control: Control, knob: Knob): Face {
  const id = newId();
  let scale: Scale = scaleOf(knob);
  let gesture = "";
  const slider = el("input", { type: "range", min: "0", max: String(stepsOf(knob, scale)), step: "1", "aria-label": `${nameOf(knob)}, slider` });
  const field = el("input", { type: "text", inputMode: "decimal", id, class: "number" });
  const keyed = button(icon(), `Key ${nameOf(knob)} over time`, () => control.openKeys(), { class: "keyed", hidden: !knob.keyable });
  slider.addEventListener("input", () => {
    gesture ||= crypto.randomUUID();
    const value = valueIn(scale, Number(slider.value) / Number(slider.max));
    field.value = plain(value);
    control.put(value, gesture);
  });
  slider.addEventListener("change", () => (gesture = ""));
  field.addEventListener("change", () => {
    const typed = field.value.trim(), number = numberIn(typed);
    if (control.current.options.includes(typed)) void control.set(typed, `${nameOf(control.current)} ${typed}`);
    else if (typed === "") void control.set(null, `${nameOf(control.current)} as usual`);
    else if (Number.isFinite(number)) control.put(number, "");
    else void control.set(typed, "a number"); // refused in the shot's own words
  });
  const show = (now: Knob): void => {
    const value = numberAt(now, control.session.frameNumber);
    if (gesture === "") {
      scale = scaleOf(now);
      slider.max = String(stepsOf(now, scale));
    }
    if (gesture === "") slider.value = value === null ? "0" : String(Math.round(Number(slider.max) * shareIn(scale, value)));
    slider.classList.toggle("unknown", value === null);
    slider.setAttribute("aria-valuetext", value === null ? "not said" : `${short(value)} ${now.unit}`);
    if (document.activeElement !== field || !field.matches(":focus")) field.value = value === null ? text(held(now) ?? "") : plain(isKeys(now.value) ? Number(value.toPrecision(4)) : value);
    field.placeholder = now.otherwise && now.value === null ? "–" : "";
    keyed.setAttribute("aria-pressed", String(isKeys(now.value)));
  };
  control.session.on("frame", () => {
    if (isKeys(control.current.value)) show(control.current);
  });
  return { id, root: el("div", { class: "turn" }, slider, field, el("span", { class: "unit" }, knob.unit), keyed), show };
}

function icon(): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  svg.classList.add("icon");
  const path = document.createElementNS(svg.namespaceURI!, "path");
  path.setAttribute("d", KEYED);
  svg.append(path);
  return svg;
}

/** A number as it can be typed again: 0.35, 475, 1e6. */
function plain(value: number): string {
  const rounded = Number(value.toPrecision(6));
  const long = String(rounded), brief = rounded.toExponential().replace("e+", "e");
  return long.length > 6 && brief.length < long.length ? brief : long;
}

function flagFace(control: Control): Face {
  const id = newId();
  const box = el("input", { type: "checkbox", id });
  box.addEventListener("change", () => void control.set(box.checked, `${nameOf(control.current)} ${box.checked ? "on" : "off"}`));
  return { id, root: el("div", { class: "turn" }, box), show: (knob) => (box.checked = held(knob) === true || typeof held(knob) === "string") };
}

function choiceFace(control: Control, knob: Knob): Face {
  const id = newId();
  const list = el("select", { id }, ...knob.options.map((option) => el("option", { value: option }, option)));
  list.addEventListener("change", () => void control.set(list.value, `${nameOf(control.current)} ${list.value}`));
  return { id, root: el("div", { class: "turn" }, list), show: (now) => (list.value = String(held(now) ?? "")) };
}

function textFace(control: Control): Face {
  const id = newId();
  const field = el("input", { type: "text", id, class: "wide" });
  field.addEventListener("change", () => void control.set(field.value === "" ? null : field.value, nameOf(control.current)));
  return {
    id,
    root: el("div", { class: "turn" }, field),
    show: (knob) => {
      if (document.activeElement !== field) field.value = text(knob.value ?? "");
      field.placeholder = knob.otherwise || (knob.default === null ? "" : text(knob.default));
    },
  };
}

function numbersFace(control: Control, knob: Knob): Face {
  const id = newId();
  const first = held(knob);
  const count = Array.isArray(first) ? first.length : knob.path.at(-1) === "frames" || knob.path.at(-1) === "shutter" ? 2 : 3;
  const fields = Array.from({ length: count }, (_, k) => el("input", { type: "text", inputMode: "decimal", class: "number", id: k === 0 ? id : undefined, "aria-label": `${nameOf(knob)}, ${k + 1} of ${count}` }));
  const shown = fields.map(() => "");
  let known = false;
  /** What is not typed over stays as the file has it, and not as few digits show it. */
  const valueOf = (field: HTMLInputElement, k: number): unknown => {
    const values = held(control.current), number = numberIn(field.value);
    if (Array.isArray(values) && field.value === shown[k]) return values[k];
    return Number.isFinite(number) ? number : field.value; // refused in the shot's own words
  };
  const write = (): void => {
    if (fields.every((field) => field.value.trim() !== "")) void control.set(fields.map(valueOf), nameOf(knob));
    else if (known) show(control.current);
  };
  for (const field of fields) field.addEventListener("change", write);
  const show = (now: Knob): void => {
    const values = held(now), before = known;
    known = Array.isArray(values);
    if (!known && !before) return; // what is typed waits for the rest of it
    fields.forEach((field, k) => {
      if (document.activeElement === field && field.matches(":focus")) return;
      field.value = shown[k] = Array.isArray(values) ? text(values[k] ?? "") : "";
    });
  };
  return { id, root: el("div", { class: "turn" }, ...fields, el("span", { class: "unit" }, knob.unit)), show };
}
