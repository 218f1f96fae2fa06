/** The page for painting: brush, symmetry, regions with their sizes, clusters. What is painted is written after each stroke. */

import * as api from "../api";
import { button, el } from "../dom";
import { unpack } from "../parcels";
import { regionColour } from "../ramp";
import { numberIn, short } from "../numbers";
import { Brush, type BrushMode } from "./brush";
import { FREE, runs } from "./painting";
import { PaintKeeper } from "./paintkeeper";
import type { Sketch } from "./sketch";

const MODES: readonly { mode: BrushMode; word: string; about: string }[] = [
  { mode: "paint", word: "Paint", about: "Drag on the surface to paint the chosen region; beside it to turn the view (B)" },
  { mode: "erase", word: "Erase", about: "Drag to make free of any region; a pen's other end does so, too (E)" },
  { mode: "fill", word: "Fill", about: "Click to give all that hangs together and is alike to the chosen region (G)" },
  { mode: "choose", word: "Choose", about: "Click a region to choose it (Q)" },
];
const LETTERS: Record<string, BrushMode> = { b: "paint", e: "erase", g: "fill", q: "choose" };
/** shares of the object's radius: the smallest brush, and the largest */
const SMALLEST = 0.004, LARGEST = 0.8;
/** share of the object's radius within which a vertex has a mirror image */
const ALIKE = 1e-3;

/** A length as people say it. */
export const length = (metres: number): string =>
  metres >= 1 ? `${short(metres)} m` : metres >= 0.01 ? `${short(100 * metres)} cm` : `${short(1000 * metres)} mm`;

export class PaintPage {
  readonly root = el("div", { class: "painting" });
  readonly brush: Brush;
  private readonly keeper: PaintKeeper;
  private readonly radius = el("input", { type: "range", min: "0", max: "1", step: "0.005", "aria-label": "Radius of the brush" });
  private readonly radiusText = el("output", { class: "reading" });
  private readonly symmetry = el("select", { "aria-label": "Symmetry" },
    ...["no symmetry", "across x", "across y", "across z"].map((word, k) => el("option", { value: String(k - 1) }, word)));
  private readonly said = el("p", { class: "said", hidden: true });
  private readonly list = el("ul", { class: "regions" });
  private readonly none = el("p", { class: "said why" });
  private readonly note = el("p", { class: "quiet" });
  private readonly obeyed = el("input", { type: "checkbox" });
  private readonly obeyedRow = el("label", {}, this.obeyed, "The guide is obeyed region by region: each keeps its size as scale");
  private readonly undo: HTMLButtonElement;
  private readonly redo: HTMLButtonElement;
  private readonly modes = new Map<BrushMode, HTMLButtonElement>();
  private readonly count = el("input", { type: "text", inputMode: "decimal", class: "number", value: "12", "aria-label": "How many clusters, or how large" });
  private readonly unit = el("select", { "aria-label": "Clusters by" }, el("option", { value: "count" }, "regions"), el("option", { value: "scale" }, "metres across"));
  private readonly where = el("select", { "aria-label": "Where" },
    el("option", { value: "all" }, "everywhere"), el("option", { value: "free" }, "where free"), el("option", { value: "region" }, "in the region"));
  private object = "";

  constructor(
    private readonly sketch: Sketch,
    canvas: HTMLCanvasElement,
    private readonly say: (text: string) => void,
  ) {
    this.brush = new Brush(sketch, canvas, {
      chosen: (label) => this.choose(label),
      needed: () => this.create(),
      ended: () => this.changed(),
    });
    this.keeper = new PaintKeeper(sketch, () => this.show());
    this.undo = button("Undo", "Take the last stroke back (Ctrl Z)", () => this.step("undo"), { class: "word" });
    this.redo = button("Redo", "Do the stroke again (Ctrl Shift Z)", () => this.step("redo"), { class: "word" });
    this.build();
    sketch.on(() => this.show());
    sketch.session.on("drawn", () => this.showRadius());
  }

  private build(): void {
    const modes = el("div", { class: "switch", role: "group", "aria-label": "Brush" }, ...MODES.map(({ mode, word, about }) => {
      const each = button(word, about, () => this.setMode(mode));
      this.modes.set(mode, each);
      return each;
    }));
    const facing = el("input", { type: "checkbox", checked: true });
    facing.addEventListener("change", () => (this.brush.facing = facing.checked));
    this.radius.addEventListener("input", () => this.setRadius(SMALLEST * (LARGEST / SMALLEST) ** Number(this.radius.value)));
    this.symmetry.addEventListener("change", () => void this.mirror());
    this.obeyed.addEventListener("change", () => void this.keeper.save(this.obeyed.checked ? "regions obey" : "regions do not obey", this.obeyed.checked));
    this.root.append(
      this.none,
      modes,
      el("label", { class: "row" }, "Radius", this.radius, this.radiusText),
      el("label", { class: "row" }, "Mirror", this.symmetry),
      el("label", {}, facing, "Only what faces the camera"),
      this.said,
      el("div", { class: "row" }, this.undo, this.redo, this.note),
      el("h3", {}, "Regions ", el("small", {}, "size is the side of a square as large")),
      this.list,
      el("div", { class: "row" }, button("New region", "A region more, to be painted (N)", () => this.create(), { class: "word" })),
      this.obeyedRow,
      el("h3", {}, "Clusters"),
      el("div", { class: "row" }, this.count, this.unit, this.where,
        button("Compute", "Regions that follow the guide, to be edited by brush", () => void this.cluster(), { class: "word" })),
    );
    this.setMode("paint");
  }

  seen(on: boolean): void {
    if (!on) return;
    const { actor } = this.sketch;
    actor?.relabel(Array.from(actor.label!.keys()));
    this.show();
  }

  /** Keys of the page, while it is seen; whether it was one of them. */
  key(event: KeyboardEvent): boolean {
    const key = event.key.toLowerCase();
    if (event.ctrlKey || event.metaKey) {
      if (key === "z") this.step(event.shiftKey ? "redo" : "undo");
      else if (key === "y") this.step("redo");
      else return false;
      return true;
    }
    const mode = LETTERS[key];
    if (mode !== undefined) this.setMode(mode);
    else if (key === ",") this.setRadius(this.share / 1.15);
    else if (key === ".") this.setRadius(this.share * 1.15);
    else if (key === "n") this.create();
    else return false;
    return true;
  }

  private setMode(mode: BrushMode): void {
    this.brush.mode = mode;
    for (const [one, each] of this.modes) each.setAttribute("aria-pressed", String(one === mode));
  }

  /** Of the brush's radius in the object's. */
  private get share(): number {
    return this.brush.radius / (this.sketch.sheet?.radius ?? 1);
  }

  private setRadius(share: number): void {
    const kept = Math.min(Math.max(share, SMALLEST), LARGEST);
    this.brush.radius = kept * (this.sketch.sheet?.radius ?? 1);
    this.radius.value = String(Math.log(kept / SMALLEST) / Math.log(LARGEST / SMALLEST));
    this.showRadius();
  }

  private showRadius(): void {
    if (!this.root.isConnected) return;
    this.radiusText.textContent = `${length(this.brush.radius)} · ${Math.round(this.brush.pixels(null))} px`;
  }

  private choose(label: number): void {
    this.brush.label = label;
    this.showList();
  }

  private create(): number | null {
    const { painting } = this.sketch;
    if (painting === null) return null;
    painting.begin("a new region");
    const label = painting.create(painting.freeName());
    painting.end();
    this.choose(label);
    this.show();
    return label;
  }

  private step(which: "undo" | "redo"): void {
    const { painting } = this.sketch;
    if (painting === null) return;
    const about = which === "undo" ? painting.canUndo : painting.canRedo;
    if (painting[which]()) void this.keeper.save(`${which === "undo" ? "taken back" : "done again"}: ${about}`);
    this.show();
  }

  private changed(): void {
    void this.keeper.save(this.sketch.painting?.canUndo ?? "painted");
    this.show();
  }

  private act(about: string, change: () => void): void {
    const { painting } = this.sketch;
    painting?.begin(about);
    change();
    if (painting?.end()) this.changed();
  }

  private show(): void {
    const { sheet, painting } = this.sketch;
    this.root.classList.toggle("without", sheet === null || painting === null);
    this.none.textContent = this.sketch.why;
    if (sheet === null || painting === null) return;
    if (this.object !== sheet.object) {
      this.object = sheet.object;
      this.brush.images = null;
      this.symmetry.value = "-1";
      this.said.hidden = true;
      this.setRadius(0.12);
    }
    if (painting.names[this.brush.label] == null) this.brush.label = painting.regions.at(-1) ?? FREE;
    this.undo.disabled = painting.canUndo === "";
    this.redo.disabled = painting.canRedo === "";
    this.note.textContent = this.keeper.state;
    this.note.dataset["state"] = this.keeper.refused ? "refused" : "";
    this.obeyedRow.hidden = sheet.role !== "shell";
    this.obeyed.checked = sheet.obeyed;
    this.obeyed.disabled = painting.toWrite.names.length === 0;
    this.showList();
  }

  private showList(): void {
    const { painting } = this.sketch;
    if (painting === null || this.list.contains(document.activeElement) && document.activeElement instanceof HTMLInputElement) return;
    const rows = painting.regions.map((label) => this.row(label));
    this.list.replaceChildren(...rows, ...(rows.length === 0 ? [el("li", { class: "quiet" }, "Nothing is painted yet: paint, or compute clusters.")] : []));
  }

  private row(label: number): HTMLElement {
    const painting = this.sketch.painting!;
    const dot = el("i", { class: "dot" });
    dot.style.background = `rgb(${regionColour(label).join(" ")})`;
    const chosen = label === this.brush.label;
    const name = el("input", { type: "text", value: painting.names[label] ?? "", "aria-label": "Name of the region", spellcheck: false });
    name.addEventListener("focus", () => this.brush.label !== label && this.mark(label));
    name.addEventListener("change", () => {
      name.blur();
      this.rename(label, name.value.trim());
    });
    const size = painting.count[label] === 0 ? "no vertex" : length(painting.size(label));
    const pick = button(dot, `Choose ${painting.names[label]}`, () => this.choose(label), { class: "pick", "aria-pressed": String(chosen) });
    const row = el("li", { class: chosen ? "chosen" : "", "data-region": painting.names[label] ?? "" }, pick, name,
      el("small", { title: `${painting.count[label]} vertices; what is larger than this obeys the guide where regions do` }, size));
    if (!chosen) return row;
    const others = painting.regions.filter((one) => one !== label);
    const into = el("select", { "aria-label": "Merge into" }, el("option", { value: "" }, "Merge into …"),
      ...others.map((one) => el("option", { value: String(one) }, painting.names[one] ?? "")));
    into.addEventListener("change", () => this.act(`merged '${painting.names[label]}'`, () => painting.dissolve(label, Number(into.value))));
    row.append(el("div", { class: "row" },
      button("Split", "A region of each piece that hangs together", () => void this.split(label), { class: "word" }), into,
      button("Remove", "Nothing is in this region any more", () => this.act(`removed '${painting.names[label]}'`, () => painting.dissolve(label, FREE)), { class: "word" })));
    return row;
  }

  private mark(label: number): void {
    this.brush.label = label;
    for (const each of this.list.children) each.classList.toggle("chosen", each.getAttribute("data-region") === this.sketch.painting?.names[label]);
  }

  private rename(label: number, name: string): void {
    const painting = this.sketch.painting!;
    const old = painting.names[label];
    if (name === old) return;
    if (name === "" || painting.names.includes(name)) {
      this.say(name === "" ? "A region needs a name." : `There is a region '${name}' already; try: another name, or Merge.`);
      this.showList();
      return;
    }
    this.act(`'${old}' renamed '${name}'`, () => painting.rename(label, name));
  }

  private async split(label: number): Promise<void> {
    const { painting, sheet } = this.sketch;
    if (painting === null || sheet === null) return;
    try {
      const found = await api.pieces({ object: sheet.object, runs: runs(painting.label, (one) => (one === label ? 0 : FREE)) });
      const piece = unpack(found)[0]!.arrays.get("label")!.data as Int32Array;
      const last = piece.reduce((most, one) => Math.max(most, one), 0);
      if (last === 0) return this.say(`'${painting.names[label]}' is in one piece.`);
      const name = painting.names[label]!;
      this.act(`split '${name}'`, () => {
        for (let k = 1; k <= last; k++) {
          const own = painting.create(painting.freeName(name));
          painting.put([...piece.keys()].filter((v) => piece[v] === k), own);
        }
      });
    } catch (error) {
      this.sketch.session.failed(error);
    }
  }

  private async mirror(): Promise<void> {
    const axis = Number(this.symmetry.value), { sheet } = this.sketch;
    this.brush.images = null;
    this.said.hidden = true;
    if (axis < 0 || sheet === null) return;
    try {
      const tolerance = ALIKE * sheet.radius;
      const images = unpack(await api.sketchImages(sheet.object, axis, tolerance))[0]!.arrays.get("image")!.data as Int32Array;
      this.brush.images = images;
      const alone = images.reduce((sum, v) => sum + Number(v < 0), 0);
      this.said.hidden = alone === 0;
      this.said.textContent = `${alone} of ${images.length} vertices have no mirror image across ${"xyz"[axis]} within ${length(tolerance)}: they are painted on one side only.`;
    } catch (error) {
      this.symmetry.value = "-1";
      this.sketch.session.failed(error);
    }
  }

  private async cluster(): Promise<void> {
    const { painting, sheet } = this.sketch, { label } = this.brush;
    if (painting === null || sheet === null) return;
    const amount = numberIn(this.count.value), by = this.unit.value, where = this.where.value;
    if (!Number.isFinite(amount)) return this.say(`How many clusters, or how large, is no number: ${this.count.value || "nothing"}.`);
    const inside = where === "all" ? [] : runs(painting.label, (one) => ((where === "free" ? one === FREE : one === label) ? 0 : FREE));
    try {
      const answer = await api.clusters({
        object: sheet.object, count: by === "count" ? amount : null, scale: by === "scale" ? amount : null, compactness: 0.5, seed: 0, runs: inside,
      });
      const found = unpack(answer)[0]!.arrays.get("label")!.data as Int32Array;
      this.act("computed clusters", () => this.takeClusters(found, where === "all"));
    } catch (error) {
      this.sketch.session.failed(error);
    }
  }

  private takeClusters(found: Int32Array, all: boolean): void {
    const painting = this.sketch.painting!;
    if (all) for (const label of painting.regions) painting.dissolve(label, FREE);
    const members = new Map<number, number[]>();
    found.forEach((cluster, v) => {
      const own = members.get(cluster) ?? [];
      if (own.length === 0 && cluster >= 0) members.set(cluster, own);
      own.push(v);
    });
    for (const cluster of [...members.keys()].sort((a, b) => a - b)) painting.put(members.get(cluster)!, painting.create(painting.freeName("cluster")));
  }
}
