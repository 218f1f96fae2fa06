/** The brush: strokes on the surface by mouse or pen, on the side that is seen; a ring shows what it reaches. */

import { el } from "../dom";
import type { Tool } from "../gestures";
import { numbers, type PackedArray } from "../parcels";
import { meet, viewAt, type Meeting } from "../pick";
import { FREE } from "./painting";
import type { Sketch } from "./sketch";

export type BrushMode = "paint" | "erase" | "fill" | "choose";

type Place = readonly [number, number];

/** share of the brush's radius between two dabs of a stroke */
const SPACING = 0.4;
/** [pixels] at least */
const NEAREST = 3;
/** the button of a pen's other end */
const ERASER = 5;

export class Brush implements Tool {
  /** [m] */
  radius = 0.05;
  mode: BrushMode = "paint";
  /** label that is painted */
  label = FREE;
  /** whether only what looks at the camera is reached */
  facing = true;
  /** (n,) the mirror image of each vertex or −1; null: one side at a time */
  images: Int32Array | null = null;
  readonly ring = el("div", { class: "ring", hidden: true });
  /** [ms] that dabs took, newest last */
  readonly spent: number[] = [];
  /** [ms] from the pointer's being somewhere until what it painted there was drawn, newest last */
  readonly waits: number[] = [];
  private since = 0;
  private last: Place | null = null;
  private erasing = false;
  private decoded: { from: PackedArray; points: Float32Array } | null = null;

  constructor(
    private readonly sketch: Sketch,
    private readonly canvas: HTMLCanvasElement,
    private readonly acts: { chosen(label: number): void; needed(): number | null; ended(): void },
  ) {}

  /** A picture was drawn. */
  drawn(): void {
    if (this.since > 0) keep(this.waits, performance.now() - this.since);
    this.since = 0;
  }

  down(event: PointerEvent, at: Place): boolean {
    const erases = event.button === ERASER;
    if (event.pointerType === "touch" || (event.button !== 0 && !erases) || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return false;
    const meeting = this.meet(at), { painting } = this.sketch;
    if (meeting === null || painting === null) return false;
    if (this.mode === "choose") {
      this.acts.chosen(painting.label[meeting.vertex]!);
      return true;
    }
    this.erasing = erases || this.mode === "erase";
    if (!this.erasing && this.label === FREE) {
      const label = this.acts.needed();
      if (label === null) return true;
      this.label = label;
    }
    const name = painting.names[this.label] ?? "";
    painting.begin(this.erasing ? "erased" : this.mode === "fill" ? `filled '${name}'` : `painted '${name}'`);
    this.last = at;
    if (this.mode === "fill" && !erases) this.put([...this.sketch.reach!.patch(meeting.vertex, painting.label)]);
    else this.dab(meeting);
    return true;
  }

  drag(event: PointerEvent, at: Place): void {
    this.showRing(at);
    if (this.last === null || this.mode === "fill" || this.mode === "choose") return;
    if (this.sketch.painting?.open !== true) return; // another window has painted meanwhile, and that is shown
    if (this.since === 0) this.since = event.timeStamp;
    const passed = event.getCoalescedEvents?.() ?? [];
    const box = this.canvas.getBoundingClientRect();
    for (const one of passed.length > 0 ? passed : [event])
      this.strokeTo([(one.clientX - box.left) / box.width, (one.clientY - box.top) / box.height], box);
  }

  up(): void {
    this.last = null;
    if (this.sketch.painting?.end()) this.acts.ended();
  }

  hover(at: Place | null): void {
    this.showRing(at);
  }

  /** Dabs from where the stroke is to a place, near enough to each other. */
  private strokeTo(at: Place, box: DOMRect): void {
    const from = this.last!;
    const across = (at[0] - from[0]) * box.width, down = (at[1] - from[1]) * box.height;
    const apart = Math.max(SPACING * this.pixels(this.meet(at)), NEAREST);
    const count = Math.max(Math.ceil(Math.hypot(across, down) / apart), 1);
    for (let k = 1; k <= count; k++) {
      const meeting = this.meet([from[0] + ((at[0] - from[0]) * k) / count, from[1] + ((at[1] - from[1]) * k) / count]);
      if (meeting !== null) this.dab(meeting);
    }
    this.last = at;
  }

  private dab(meeting: Meeting): void {
    const begun = performance.now();
    const { actor, reach, session } = this.sketch;
    const { x, y, z } = session.orbit.camera.position;
    const eye = this.facing ? [x, y, z] : null;
    this.put(reach!.ball(this.points(), meeting.place, meeting.face, meeting.vertex, this.radius, eye, actor!.result.normals));
    keep(this.spent, performance.now() - begun);
  }

  private put(vertices: ArrayLike<number> & Iterable<number>): void {
    const label = this.erasing ? FREE : this.label;
    const { images } = this;
    const both = images === null ? [] : Array.from(vertices, (v) => images[v]!).filter((v) => v >= 0);
    this.sketch.painting!.put(vertices, label);
    if (both.length > 0) this.sketch.painting!.put(both, label);
  }

  private meet([x, y]: Place): Meeting | null {
    const { session, actor } = this.sketch;
    const view = viewAt(session.views, x, y);
    if (view === null || actor === null) return null;
    return meet(view, actor, session.orbit, this.canvas.width / this.canvas.height, x, y);
  }

  /** (n, 3) of the frame shown. */
  private points(): Float32Array {
    const shown = this.sketch.actor!.result.shown!;
    if (this.decoded?.from !== shown) this.decoded = { from: shown, points: numbers(shown) };
    return this.decoded.points;
  }

  /** The brush's radius on the screen, where it meets the surface, or in the middle of what is seen. */
  pixels(meeting: Meeting | null): number {
    const { orbit } = this.sketch.session;
    const place = meeting?.place ?? orbit.at.target;
    const { camera } = orbit;
    const along = camera.getWorldDirection(camera.position.clone());
    const depth = place.reduce((sum, value, c) => sum + (value - camera.position.getComponent(c)) * along.getComponent(c), 0);
    const high = 2 * Math.max(depth, 1e-9) * Math.tan((camera.fov * Math.PI) / 360);
    return (this.radius / high) * this.canvas.clientHeight;
  }

  private showRing(at: Place | null): void {
    const meeting = at === null ? null : this.meet(at);
    this.ring.hidden = meeting === null || at === null;
    if (meeting === null || at === null) return;
    const size = 2 * this.pixels(meeting);
    this.ring.style.width = this.ring.style.height = `${size}px`;
    this.ring.style.left = `${100 * at[0]}%`;
    this.ring.style.top = `${100 * at[1]}%`;
    this.ring.dataset["mode"] = this.mode;
  }
}

function keep(times: number[], time: number): void {
  times.push(time);
  if (times.length > 1000) times.shift();
}
