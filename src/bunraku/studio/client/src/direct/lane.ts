/** A number keyed over time, in step with the time line: keys are set by a click, dragged in time and value, eased. */

import * as api from "../api";
import { button, clamp, el, onResize } from "../dom";
import type { Knob } from "../messages";
import { frameText, niceStep, numberIn, short } from "../numbers";
import type { Session } from "../session";
import { palette } from "../timeline";
import { samePath, type Desk } from "./desk";
import { keyOf, nameOf } from "./knob";
import { allowed, EASES, isKeys, numberAt, scaleOf, shareIn, valueAt, valueIn, withKey, type Key, type Scale } from "./range";

/** [points] between the lane's edges and the ends of its scale */
const EDGE = 9;
/** [points] in which the scale's lower end is written */
const CORNER = 40;
/** by this share of the scale arrow keys move a value */
const NUDGE = 0.01;

export class KeyLane {
  readonly root: HTMLElement;
  private readonly plot = el("div", { class: "plot" });
  private readonly canvas = el("canvas", { "aria-hidden": "true" });
  /** frame numbers, where there is no time line above that has them */
  private readonly ticks = el("div", { class: "ticks", "aria-hidden": "true" });
  private readonly title = el("b", { class: "title" });
  private readonly frame = el("input", { type: "text", inputMode: "numeric", class: "number", "aria-label": "Frame of the key" });
  private readonly value = el("input", { type: "text", inputMode: "decimal", class: "number", "aria-label": "Value of the key" });
  private readonly ease = el("select", { "aria-label": "How the key is come to" }, ...EASES.map((one) => el("option", { value: one }, one)));
  private readonly remove: HTMLButtonElement;
  private readonly dots = new Map<number, HTMLElement>();
  private path: string | null = null;
  private chosen: number | null = null;
  private scale: Scale = { low: 0, high: 1, log: false };
  private gesture = "";
  /** keys while one is dragged, ahead of what the server says */
  private ahead: readonly Key[] | null = null;
  /** first and last frame of what directs the object, where neither the file nor a take says them */
  private guided: readonly [number, number] | null = null;

  constructor(
    private readonly session: Session,
    private readonly desk: Desk,
  ) {
    this.remove = button("Delete", "Delete the key (Delete)", () => this.drop(), { class: "word" });
    const close = button("×", "Close the keys", () => void this.open(null));
    const gutter = el("div", { class: "gutter" }, el("div", { class: "line" }, this.title, close),
      el("div", { class: "line" }, this.frame, this.value), el("div", { class: "line" }, this.ease, this.remove));
    this.plot.append(this.canvas, this.ticks);
    this.root = el("div", { class: "keylane", hidden: true, role: "group", "aria-label": "Keys" }, gutter, this.plot);
    this.plot.addEventListener("pointerdown", (event) => this.press(event));
    this.plot.addEventListener("pointermove", (event) => this.drag(event));
    for (const ended of ["pointerup", "pointercancel"] as const) this.plot.addEventListener(ended, () => this.release());
    this.frame.addEventListener("change", () => this.typed());
    this.value.addEventListener("change", () => this.typed());
    this.ease.addEventListener("change", () => this.eased());
    onResize(this.plot, () => this.show());
    desk.on(() => this.show());
    session.on("takes", () => this.show());
    session.store.watch(["theme"], () => this.paint());
  }

  /** Opens the keys of a number, or closes them where they are open. */
  toggle(knob: Knob): void {
    void this.open(this.path === keyOf(knob) ? null : knob);
  }

  private async open(knob: Knob | null): Promise<void> {
    if (knob !== null) await this.askFrames();
    this.path = knob === null ? null : keyOf(knob);
    this.chosen = null;
    this.show();
    if (knob !== null && !isKeys(knob.value)) void this.begin(knob);
  }

  /** Before there is a take, of a shot that does not say its frames: those that its guide has. */
  private async askFrames(): Promise<void> {
    const { object, sheet } = this.desk;
    this.guided = null;
    const role = sheet?.objects.find(({ path }) => samePath(path, object))?.role ?? "obstacle"; // which has none
    if (this.session.shot.numbers.length > 1 || object?.length !== 2 || role === "obstacle" || sheet?.first !== null) return;
    try {
      const { frames } = await api.sketch(String(object[1]));
      if (frames.length > 1) this.guided = [frames[0]!, frames.at(-1)!];
    } catch {
      // What is wrong with an input is told by Run.
    }
  }

  /** A first key, where the playhead is, of what holds now. */
  private async begin(knob: Knob): Promise<void> {
    const value = numberAt(knob, this.session.frameNumber) ?? valueIn(scaleOf(knob), 0.5);
    const frame = this.clampFrame(Math.round(this.session.frameNumber));
    this.chosen = frame;
    await this.write([[frame, value]], `${nameOf(knob)} keyed`);
  }

  private get knob(): Knob | null {
    return this.desk.sheet?.knobs.find((knob) => keyOf(knob) === this.path) ?? null;
  }

  private get keys(): readonly Key[] {
    if (this.ahead !== null) return this.ahead;
    const value = this.knob?.value;
    return isKeys(value) ? value : [];
  }

  /** First and last frame of the lane: the time line's, where there is one. */
  private get frames(): readonly [number, number] {
    const { numbers } = this.session.shot;
    if (numbers.length > 1) return [numbers[0]!, numbers.at(-1)!];
    if (this.guided !== null) return this.guided;
    const { first = null, last = null } = this.desk.sheet ?? {};
    const at = this.keys.map((key) => key[0]);
    return [first ?? Math.min(1, ...at), last ?? Math.max(24, ...at)];
  }

  private clampFrame(frame: number): number {
    const [first, last] = this.frames;
    return clamp(frame, first, last);
  }

  private show(): void {
    const { knob } = this;
    this.root.hidden = knob === null;
    if (knob === null) return;
    if (this.gesture === "") this.scale = scaleOf(knob);
    this.title.textContent = `${String(knob.path.at(-2) ?? "")} · ${nameOf(knob)}${knob.unit ? ` [${knob.unit}]` : ""}`;
    this.title.title = knob.doc;
    this.placeDots();
    this.placeTicks();
    this.showFields();
    this.paint();
  }

  private placeTicks(): void {
    const [first, last] = this.frames, there = this.session.shot.numbers.length > 1;
    const width = this.plot.clientWidth, apart = Math.max(niceStep(last - first + 1, width / 64), 1), frames: number[] = [];
    for (let frame = Math.ceil(first / apart) * apart; frame <= last; frame += apart) if (this.shareOf(frame) * width > CORNER) frames.push(frame);
    this.ticks.replaceChildren(...(there ? [] : frames).map((frame) => {
      const tick = el("span", {}, frameText(frame));
      tick.style.left = `${100 * this.shareOf(frame)}%`;
      return tick;
    }));
  }

  private showFields(): void {
    const key = this.keys.find(([frame]) => frame === this.chosen);
    for (const field of [this.frame, this.value, this.ease, this.remove]) field.disabled = key === undefined;
    const [frame, value] = key === undefined ? ["", ""] : this.texts(key);
    if (document.activeElement !== this.frame || !this.frame.matches(":focus")) this.frame.value = frame;
    if (document.activeElement !== this.value || !this.value.matches(":focus")) this.value.value = value;
    this.ease.value = key?.[2] ?? "linear";
  }

  /** What the fields say of a key. */
  private texts(key: Key): [string, string] {
    return [frameText(key[0]), String(Number(key[1].toPrecision(6)))];
  }

  /** A button a key, so that each can be reached and moved by the keyboard. */
  private placeDots(): void {
    const there = new Set(this.keys.map(([frame]) => frame));
    const focused = this.plot.contains(document.activeElement);
    for (const [frame, dot] of this.dots) {
      if (there.has(frame)) continue;
      dot.remove();
      this.dots.delete(frame);
    }
    for (const key of this.keys) {
      let dot = this.dots.get(key[0]);
      if (dot === undefined) {
        dot = this.newDot(key[0]);
        this.dots.set(key[0], dot);
        this.plot.append(dot);
      }
      dot.style.left = `${100 * this.shareOf(key[0])}%`;
      dot.style.top = `${this.y(key[1])}px`;
      dot.setAttribute("aria-label", `Key at frame ${frameText(key[0])}: ${short(key[1])} ${this.knob?.unit ?? ""}`);
      dot.setAttribute("aria-pressed", String(key[0] === this.chosen));
      if (key[0] === this.chosen && focused) dot.focus();
    }
  }

  private newDot(frame: number): HTMLElement {
    const dot = el("button", { type: "button", class: "dot-key", "data-frame": frame });
    dot.addEventListener("focus", () => this.choose(frame));
    dot.addEventListener("keydown", (event) => this.nudge(event, frame));
    return dot;
  }

  private choose(frame: number | null): void {
    if (this.chosen === frame) return;
    this.chosen = frame;
    this.showFields();
    for (const [at, dot] of this.dots) dot.setAttribute("aria-pressed", String(at === frame));
  }

  private nudge(event: KeyboardEvent, frame: number): void {
    const key = this.keys.find(([at]) => at === frame);
    if (key === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Delete" || event.key === "Backspace") this.drop();
    else {
      const far = event.shiftKey ? 10 : 1;
      const [across, up] = { ArrowLeft: [-far, 0], ArrowRight: [far, 0], ArrowUp: [0, far], ArrowDown: [0, -far] }[event.key] ?? [0, 0];
      if (across === 0 && up === 0) return;
      void this.move(key, key[0] + across!, up === 0 ? key[1] : valueIn(this.scale, shareIn(this.scale, key[1]) + up! * NUDGE), "");
    }
    event.preventDefault();
    event.stopPropagation();
  }

  private press(event: PointerEvent): void {
    if (event.button !== 0 || this.knob === null) return;
    event.preventDefault();
    const dot = event.target instanceof Element ? event.target.closest<HTMLElement>(".dot-key") : null;
    this.plot.setPointerCapture(event.pointerId);
    this.gesture = crypto.randomUUID();
    if (dot !== null) {
      this.choose(Number(dot.dataset["frame"]));
      dot.focus();
      return;
    }
    const [frame, value] = this.under(event);
    this.chosen = frame;
    void this.write(withKey(this.keys, [frame, value]), `${nameOf(this.knob)} keyed at frame ${frame}`, this.gesture);
  }

  private drag(event: PointerEvent): void {
    const key = this.keys.find(([frame]) => frame === this.chosen);
    if (this.gesture === "" || key === undefined || !this.plot.hasPointerCapture(event.pointerId)) return;
    const [frame, value] = this.under(event);
    if (frame !== key[0] || value !== key[1]) void this.move(key, frame, value, this.gesture);
  }

  private release(): void {
    this.gesture = "";
    this.show();
  }

  private under(event: PointerEvent): [number, number] {
    const box = this.plot.getBoundingClientRect();
    const [first, last] = this.frames;
    const frame = Math.floor(first + ((event.clientX - box.left) / box.width) * (last - first + 1));
    const share = 1 - (event.clientY - box.top - EDGE) / Math.max(box.height - 2 * EDGE, 1);
    return [this.clampFrame(frame), this.bounded(valueIn(this.scale, share))];
  }

  private bounded(value: number): number {
    return this.knob === null ? value : allowed(this.knob, value);
  }

  /** Moves a key; never onto or past another. */
  private async move(key: Key, frame: number, value: number, gesture: string): Promise<void> {
    const { knob, keys } = this;
    if (knob === null) return;
    const place = keys.indexOf(key);
    const before = keys[place - 1]?.[0] ?? -Infinity, after = keys[place + 1]?.[0] ?? Infinity;
    const at = frame === key[0] ? frame : clamp(this.clampFrame(Math.round(frame)), before + 1, after - 1);
    const moved: Key = key[2] === undefined ? [at, this.bounded(value)] : [at, this.bounded(value), key[2]];
    this.chosen = at;
    await this.write(keys.map((one) => (one === key ? moved : one)), `${nameOf(knob)} keyed at frame ${at}`, gesture);
  }

  private typed(): void {
    const key = this.keys.find(([frame]) => frame === this.chosen);
    if (key === undefined) return;
    const kept = this.texts(key); // what is not typed over stays as it is
    const frame = this.frame.value === kept[0] ? key[0] : numberIn(this.frame.value);
    const value = this.value.value === kept[1] ? key[1] : numberIn(this.value.value);
    if (Number.isFinite(frame) && Number.isFinite(value)) void this.move(key, frame, value, "");
    else this.showFields();
  }

  private eased(): void {
    const { knob, keys } = this;
    if (knob !== null) void this.write(keys.map((key) => (key[0] === this.chosen ? [key[0], key[1], this.ease.value] : key)), `${nameOf(knob)} ${this.ease.value} to frame ${this.chosen ?? 0}`);
  }

  /** Deletes the key; of the last one its value stays. */
  private drop(): void {
    const { knob, keys } = this;
    const left = keys.filter(([frame]) => frame !== this.chosen);
    if (knob === null || left.length === keys.length) return;
    const about = `${nameOf(knob)}: key at frame ${this.chosen ?? 0} deleted`;
    this.chosen = left[0]?.[0] ?? null;
    if (left.length > 0) void this.write(left, about);
    else void this.desk.edit([{ path: knob.path, value: keys[0]![1] }], about);
  }

  private async write(keys: readonly Key[], about: string, gesture = ""): Promise<void> {
    const { knob } = this;
    if (knob === null) return;
    this.ahead = keys;
    this.show();
    await this.desk.edit([{ path: knob.path, value: keys }], about, { gesture });
    if (this.ahead === keys) {
      this.ahead = null;
      this.show();
    }
  }

  private shareOf(frame: number): number {
    const [first, last] = this.frames;
    return (frame - first + 0.5) / (last - first + 1);
  }

  private y(value: number): number {
    const height = this.plot.clientHeight;
    return EDGE + (1 - shareIn(this.scale, value)) * Math.max(height - 2 * EDGE, 1);
  }

  private paint(): void {
    const { canvas, plot, keys } = this;
    const width = plot.clientWidth, height = plot.clientHeight, ratio = devicePixelRatio;
    if (width === 0 || this.root.hidden) return;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const pen = canvas.getContext("2d");
    if (pen === null) return;
    pen.scale(ratio, ratio);
    const colour = palette(plot);
    pen.font = "10.5px system-ui, sans-serif";
    pen.fillStyle = colour("--soft");
    pen.textBaseline = "top";
    pen.fillText(short(this.scale.high), 3, 1);
    pen.textBaseline = "bottom";
    pen.fillText(short(this.scale.low), 3, height - 1);
    if (keys.length === 0) return;
    const [first, last] = this.frames;
    pen.strokeStyle = colour("--accent");
    pen.lineWidth = 1.6;
    pen.beginPath();
    const count = Math.max(Math.round(width), 2);
    for (let k = 0; k <= count; k++) {
      const frame = first - 0.5 + (k / count) * (last - first + 1);
      const x = (k / count) * width, y = this.y(valueAt(keys, frame));
      if (k === 0) pen.moveTo(x, y);
      else pen.lineTo(x, y);
    }
    pen.stroke();
  }
}
