/** The page for keys and paths: which there are, what holds one of them; on the stage a gizmo, on the time line marks. */

import * as api from "../api";
import { button, el } from "../dom";
import { goTo } from "../hand";
import type { SketchPart } from "../messages";
import { frameText, numberIn, short } from "../numbers";
import { Gizmo, type GizmoMode } from "./gizmo";
import { add, at, handlesOf, listOf, pose, poseOf, remove, retime, type Handle, type Json, type Pose, type Three } from "./handles";
import { MarkLane } from "./marklane";
import { curveOf, type Sketch } from "./sketch";

const MODES: readonly { mode: GizmoMode; word: string; about: string }[] = [
  { mode: "translate", word: "Move", about: "Move what the key is of (G)" },
  { mode: "rotate", word: "Turn", about: "Turn it about its middle (R)" },
  { mode: "scale", word: "Scale", about: "Scale it about its middle (E)" },
];
const LETTERS: Record<string, GizmoMode> = { g: "translate", r: "rotate", e: "scale" };
const HELD: readonly [number, number, number] = [226, 120, 62];

const idOf = (handle: Handle): string => JSON.stringify([handle.list, handle.where]);

export class KeysPage {
  readonly root = el("div", { class: "posing" });
  readonly gizmo: Gizmo;
  readonly lane: MarkLane;
  private readonly list = el("ul", { class: "keys" });
  private readonly about = el("p", { class: "quiet" });
  private readonly met = el("p", { class: "said", role: "status" });
  private readonly region = el("select", { "aria-label": "Region of the new key" });
  private readonly goer = el("select", { "aria-label": "What the path is of" });
  private readonly frame = el("input", { type: "text", inputMode: "numeric", class: "number", "aria-label": "Frame of the key" });
  private readonly numbers = ["x", "y", "z"].map((axis) => el("input", { type: "text", inputMode: "decimal", class: "number", "aria-label": `Move along ${axis} [m]` }));
  private readonly placed = el("span");
  private readonly modes = new Map<GizmoMode, HTMLButtonElement>();
  private readonly adding: HTMLElement;
  private readonly pathing: HTMLElement;
  private readonly held: HTMLElement;
  private chosen: string | null = null;
  private mode: GizmoMode = "translate";
  private gesture = "";
  /** the chosen handle's list while it is dragged, ahead of what the file says */
  private ahead: Json[] | null = null;
  private on = false;
  /** how often a path was asked for, and how many of these wait for an answer */
  private traced = 0;
  private tracing = 0;

  constructor(private readonly sketch: Sketch) {
    this.gizmo = new Gizmo(sketch.session, { moved: (now) => this.moved(now), released: () => void this.released() });
    this.lane = new MarkLane(sketch.session, {
      chosen: (id) => this.choose(id),
      moved: (id, frame, done) => void this.retimed(id, frame, done),
      removed: (id) => void this.removed(id),
    });
    this.adding = el("div", { class: "row" }, this.region, button("Add a key", "A key of this region on this frame (K)", () => void this.add(), { class: "word" }));
    this.pathing = el("div", { class: "row" }, this.goer, button("Add a knot", "A knot of this path on this frame; of what has none a path begins", () => void this.addKnot(), { class: "word" }));
    this.held = el("div", {},
      el("div", { class: "switch", role: "group", "aria-label": "Gizmo" }, ...MODES.map(({ mode, word, about }) => {
        const each = button(word, about, () => this.setMode(mode));
        this.modes.set(mode, each);
        return each;
      })),
      el("label", { class: "row" }, "Frame", this.frame),
      el("label", { class: "row" }, this.placed, ...this.numbers));
    this.root.append(this.about, this.list, this.held, this.adding, this.pathing, this.met);
    this.frame.addEventListener("change", () => this.typedFrame());
    for (const field of this.numbers) field.addEventListener("change", () => this.typedMove());
    this.setMode("translate");
    sketch.on(() => this.show());
    sketch.session.on("buffered", () => this.drawWay());
  }

  /** Whether the page is seen. */
  seen(on: boolean): void {
    this.on = on;
    if (!on) this.gizmo.enter(null);
    this.show();
  }

  key(event: KeyboardEvent): boolean {
    if (event.ctrlKey || event.metaKey) return false;
    const mode = LETTERS[event.key.toLowerCase()];
    if (mode !== undefined) this.setMode(mode);
    else if (event.key.toLowerCase() === "k") void this.add();
    else if (event.key === "Delete" && this.chosen !== null) void this.removed(this.chosen);
    else return false;
    return true;
  }

  private setMode(mode: GizmoMode): void {
    this.mode = mode;
    for (const [one, each] of this.modes) each.setAttribute("aria-pressed", String(one === mode));
    this.gizmo.setMode(this.handle?.kind === "point" ? "translate" : mode);
  }

  private get handles(): Handle[] {
    return this.sketch.sheet === null ? [] : handlesOf(this.sketch.sheet);
  }

  private get handle(): Handle | null {
    return this.handles.find((handle) => idOf(handle) === this.chosen) ?? null;
  }

  private partOf(handle: Handle): SketchPart | undefined {
    return this.sketch.sheet?.parts.find(({ name }) => name === handle.region);
  }

  /** Whether a path is on its way. */
  get isTracing(): boolean {
    return this.tracing > 0;
  }

  /** (3,) [m] where the middle of the chosen key's region is drawn. */
  get drawn(): number[] | null {
    const part = this.handle === null ? undefined : this.partOf(this.handle);
    return part === undefined ? null : this.sketch.drawnMiddle(this.sketch.parts[this.sketch.sheet!.parts.indexOf(part)]!);
  }

  private choose(id: string | null): void {
    this.chosen = id;
    const { handle } = this;
    if (handle !== null) goTo(this.sketch.session, this.sketch.session.shot.at(handle.frame));
    this.show();
  }

  private show(): void {
    const { sheet, actor, shown } = this.sketch;
    const { handles } = this;
    if (this.handle === null) this.chosen = null;
    const active = this.on && shown && sheet !== null;
    this.lane.show(handles.map((handle) => ({ id: idOf(handle), frame: handle.frame, title: handle.title, path: handle.list === "path" })), this.chosen, active && handles.length > 0);
    for (const part of [this.list, this.held, this.adding, this.pathing, this.met]) part.hidden = !active;
    this.about.textContent = this.sketch.why;
    if (!active || actor === null) return;
    this.about.textContent = ABOUT[sheet.kind];
    this.list.replaceChildren(...handles.map((handle) => this.row(handle)));
    this.showRegions();
    this.pathing.hidden = sheet.kind !== "shapes";
    this.adding.hidden = sheet.kind === "" || sheet.parts.length === 0;
    this.met.textContent = [...sheet.met.filter((key) => !key.met).map((key) => `${key.where} is missed by ${short(key.missed)} ${key.unit}.`), ...sheet.sentences].join(" ");
    this.gizmo.enter(actor.scene);
    if (this.gesture === "") this.hold();
  }

  private row(handle: Handle): HTMLElement {
    const id = idOf(handle);
    const choose = button(el("span", {}, el("b", {}, frameText(handle.frame)), ` ${handle.title}`), `${handle.title} on frame ${frameText(handle.frame)}`, () => this.choose(id), {
      class: handle.list === "path" ? "key knot" : "key", "aria-pressed": String(id === this.chosen),
    });
    return el("li", {}, choose, button("×", `Remove ${handle.title} on frame ${frameText(handle.frame)}`, () => void this.removed(id)));
  }

  private showRegions(): void {
    const names = this.sketch.sheet!.parts.map(({ name }) => name);
    for (const [list, all] of [[this.region, names], [this.goer, ["", ...names]]] as const) {
      const before = list.value;
      list.replaceChildren(...all.map((name) => el("option", { value: name }, name || "whole body")));
      if (all.includes(before)) list.value = before;
    }
  }

  /** Puts the gizmo where the chosen key is, and colours what it is of. */
  private hold(): void {
    const { handle } = this, { sheet, actor } = this.sketch;
    const part = handle === null ? undefined : this.partOf(handle);
    this.held.hidden = handle === null || handle.kind === "";
    actor?.single(part === undefined ? [] : this.sketch.parts[sheet!.parts.indexOf(part)]!, HELD);
    void this.drawPath(handle);
    if (handle === null || sheet === null || handle.kind === "" || (handle.kind === "region" && part === undefined)) {
      this.gizmo.letGo();
      return;
    }
    const now = poseOf(listOf(sheet, handle), handle);
    this.showNumbers(handle, now);
    this.gizmo.hold(this.pivot(handle), now);
    this.setMode(this.mode);
  }

  private pivot(handle: Handle): Three {
    const { origin } = this.sketch.sheet!;
    const part = this.partOf(handle);
    if (handle.pivot !== undefined) return handle.pivot.map((value, c) => value - origin[c]!) as Three;
    return handle.kind === "region" && part !== undefined ? ([...part.middle] as Three) : (origin.map((value) => -value) as Three);
  }

  private showNumbers(handle: Handle, { move }: Pose): void {
    this.placed.textContent = handle.kind === "point" ? "Place" : "Moved";
    for (const [mode, each] of this.modes) each.disabled = handle.kind === "point" && mode !== "translate";
    if (document.activeElement !== this.frame || !this.frame.matches(":focus")) this.frame.value = frameText(handle.frame);
    this.numbers.forEach((field, c) => {
      if (document.activeElement !== field || !field.matches(":focus")) field.value = String(Number(move[c]!.toFixed(4)));
    });
  }

  /** The gizmo is dragged: the motion is found anew, while the file waits for the release. */
  private moved(now: Pose): void {
    const { handle } = this, { sheet } = this.sketch;
    if (handle === null || sheet === null) return;
    this.gesture = "drag";
    const list = listOf(sheet, handle);
    pose(list, handle, now);
    this.ahead = list;
    this.showNumbers(handle, now);
    this.attempt(handle, list);
  }

  private attempt(handle: Handle, list: Json[]): void {
    const { sheet } = this.sketch;
    if (handle.list === "path") {
      const told = list[Number(handle.where[0])]!;
      this.traced++;
      this.sketch.tryPath(told, (curve) => this.drawCurve(curve, told));
    } else if (sheet?.kind === "shapes") this.sketch.tryShape(at(list, handle.where.slice(0, 1)));
    else this.sketch.tryKeys(list, (met) => this.sayMet(met));
  }

  private sayMet(met: Float32Array): void {
    const missed: string[] = [];
    for (let k = 0; k < met.length; k += 2) if (met[k] === 0) missed.push(`missed by ${short(met[k + 1]!)}`);
    this.met.textContent = missed.length === 0 ? "All keys are met." : `${missed.length} of ${met.length / 2} keys: ${missed.join(", ")}.`;
  }

  private async released(): Promise<void> {
    const { handle, ahead } = this;
    this.gesture = "";
    this.ahead = null;
    if (this.sketch.sheet?.kind !== "phases") this.sketch.settle(); // of a chain no more was planned than was seen
    if (handle !== null && ahead !== null) await this.write(handle.list, ahead, `${handle.title} on frame ${frameText(handle.frame)} posed`);
  }

  private async write(list: Handle["list"], value: Json[], about: string): Promise<void> {
    const { sketch } = this, { desk, sheet } = sketch;
    if (sheet === null || desk.object === null) return;
    await sketch.calm();
    while (this.isTracing) await new Promise((done) => window.setTimeout(done, 5));
    const changes = [{ path: [...desk.object, list], value: value.length > 0 ? value : null }];
    const { revision } = sheet; // whose keys these are, which the shot may have left behind
    const edited = await desk.change(() => api.editObject({ revision, object: sheet.object, changes, about, gesture: "", tab: desk.tab }));
    if (edited === null) sketch.refresh();
  }

  private async retimed(id: string, frame: number, done: boolean): Promise<void> {
    const handle = this.handles.find((one) => idOf(one) === id), { sheet } = this.sketch;
    if (handle === undefined || sheet === null) return;
    const list = listOf(sheet, handle);
    retime(list, handle, frame);
    if (!done) {
      if (sheet.kind === "keys" && handle.list === "keys") this.sketch.tryKeys(list, (met) => this.sayMet(met));
      return;
    }
    this.sketch.settle();
    await this.write(handle.list, list, `${handle.title} moved from frame ${frameText(handle.frame)} to ${frameText(frame)}`);
    await this.sketch.settled();
    const there = this.handles.find((one) => one.frame === frame && one.title === handle.title);
    this.choose(there === undefined ? null : idOf(there));
  }

  private async removed(id: string): Promise<void> {
    const handle = this.handles.find((one) => idOf(one) === id), { sheet } = this.sketch;
    if (handle === undefined || sheet === null) return;
    const list = listOf(sheet, handle);
    remove(list, handle);
    await this.write(handle.list, list, `${handle.title} on frame ${frameText(handle.frame)} removed`);
  }

  private async add(): Promise<void> {
    const { sheet, session } = this.sketch;
    const region = this.region.value;
    if (sheet === null || region === "" || this.adding.hidden) return;
    const frame = session.frameNumber;
    await this.write(sheet.kind === "phases" ? "phases" : "keys", add(sheet, region, frame), `a key of ${region} on frame ${frameText(frame)}`);
    await this.sketch.settled();
    const there = this.handles.find((one) => one.frame === frame && one.title === region);
    if (there !== undefined) this.choose(idOf(there));
  }

  private async addKnot(): Promise<void> {
    const { sheet, session } = this.sketch;
    if (sheet === null || this.pathing.hidden) return;
    const frame = session.frameNumber, region = this.goer.value || null, of = region ?? "whole body";
    try {
      const { paths } = await api.knot({ ...this.sketch.place, region, frame });
      await this.write("path", paths as Json[], `a knot of the path of ${of} on frame ${frameText(frame)}`);
    } catch (error) {
      session.failed(error);
      return;
    }
    await this.sketch.settled();
    const there = this.handles.find((one) => one.list === "path" && one.frame === frame && one.title === `path of ${of}`);
    if (there !== undefined) this.choose(idOf(there));
  }

  private typedFrame(): void {
    const frame = numberIn(this.frame.value);
    if (this.chosen !== null && Number.isFinite(frame)) void this.retimed(this.chosen, frame, true);
    else this.hold();
  }

  private typedMove(): void {
    const { handle } = this, { sheet } = this.sketch;
    const move = this.numbers.map((field) => numberIn(field.value));
    if (handle === null || sheet === null || !move.every(Number.isFinite)) return this.hold();
    const list = listOf(sheet, handle);
    pose(list, handle, { ...poseOf(list, handle), move: move as Three });
    void this.write(handle.list, list, `${handle.title} on frame ${frameText(handle.frame)} posed`);
  }

  /** The path of a chosen knot, or the only one there is. */
  private async drawPath(handle: Handle | null): Promise<void> {
    const sheet = this.sketch.sheet;
    const paths = Array.isArray(sheet?.paths) ? (sheet.paths as Json[]) : [];
    const which = handle?.list === "path" ? handle : this.handles.find(({ list }) => list === "path");
    const told = which === undefined ? undefined : paths[Number(which.where[0])];
    if (told !== undefined) return this.trace(told);
    this.gizmo.draw(new Float32Array(0), new Float32Array(0));
    this.drawWay();
  }

  /** Draws a path as the file has it, unless another is drawn meanwhile, or the shot has gone on. */
  private async trace(told: Json): Promise<void> {
    const { place } = this.sketch, turn = ++this.traced;
    this.tracing++;
    try {
      const curve = curveOf(await api.tryPath({ ...place, told }));
      if (turn === this.traced) this.drawCurve(curve, told);
    } catch (error) {
      if (turn === this.traced && place.revision === this.sketch.desk.sheet?.revision) this.sketch.session.failed(error);
    } finally {
      this.tracing--;
    }
  }

  /** Of a plan: the way that the middle of the chosen key's region goes, once all frames are here. */
  private drawWay(): void {
    const { handle } = this, { sheet } = this.sketch;
    const part = handle === null ? undefined : this.partOf(handle);
    if (!this.on || sheet === null || part === undefined || (sheet.kind !== "keys" && sheet.kind !== "phases")) return;
    const way = this.sketch.way(this.sketch.parts[sheet.parts.indexOf(part)]!);
    if (way === null) return;
    const dots = this.handles.filter(({ region }) => region === part.name).map(({ frame }) => 3 * sheet.frames.findIndex((one) => one >= frame - 1e-6));
    this.gizmo.draw(way, Float32Array.from(dots.flatMap((k) => (k < 0 ? [] : [...way.subarray(k, k + 3)]))));
  }

  private drawCurve(curve: Float32Array, told: Json): void {
    const rows = ((told as { points?: Json })?.points as number[][] | undefined) ?? [];
    const { origin } = this.sketch.sheet!;
    this.gizmo.draw(curve, Float32Array.from(rows.flatMap((row) => row.slice(1, 4).map((value, c) => value - origin[c]!))));
  }
}

const ABOUT: Record<string, string> = {
  keys: "Keys of a plan: the motion is planned anew while one is dragged.",
  phases: "Keys of a chain of phases: planned anew up to the frame that is seen while one is dragged, and whole when it is let go.",
  shapes: "Loose key shapes and paths of a body: the shape is shown as it is posed; a run makes the motion.",
  "": "Nothing directs this object by keys.",
};
