/** An object as it is directed, nothing run: shown instead of takes while it is painted or posed; keys that are tried move it. */

import { Actor } from "../actor";
import * as api from "../api";
import { Frames } from "../frames";
import type { Overlay, SketchSheet, Take } from "../messages";
import { unpack, type PackedArray, type PackedEntry } from "../parcels";
import { GUEST, type Guest, type Session } from "../session";
import type { Desk } from "./desk";
import { Painting } from "./painting";
import { Reach } from "./reach";

/** [bytes] of frames held */
const MEMORY = 200e6;

const LABELS: Overlay = { name: "labels", title: "Regions", unit: "", draws: "labels", about: "What is painted.", low: 0, high: 1 };

/** How long it took from a try's being sent until it was drawn [ms], newest last. */
export interface Trial {
  readonly answered: number;
  readonly drawn: number;
}

/** What tests look at. */
export interface Sketched {
  readonly object: string;
  readonly revision: number;
  /** vertices by region */
  readonly regions: Readonly<Record<string, number>>;
  readonly version: number;
}

export class Sketch {
  sheet: SketchSheet | null = null;
  painting: Painting | null = null;
  reach: Reach | null = null;
  /** vertices of the sheet's parts */
  parts: Uint32Array[] = [];
  readonly trials: Trial[] = [];
  private guest: Guest | null = null;
  /** whether what the shot says now is about to be known from elsewhere */
  holding = false;
  private wanted = false;
  /** how often the sheet is being asked for */
  private asking = 0;
  /** frame number on which it was left */
  private frame: number | null = null;
  private loading = 0;
  private loaded = "";
  private next: { ask: () => Promise<ArrayBuffer>; show: (bytes: ArrayBuffer) => void } | null = null;
  private trying = false;
  private readonly listeners: (() => void)[] = [];

  constructor(
    readonly session: Session,
    readonly desk: Desk,
  ) {
    desk.on(() => void this.follow());
  }

  on(act: () => void): void {
    this.listeners.push(act);
  }

  tell(): void {
    for (const act of this.listeners) act();
  }

  get actor(): Actor | null {
    return this.guest?.actor ?? null;
  }

  get shown(): boolean {
    return this.wanted && this.guest !== null;
  }

  get state(): Sketched | null {
    const { sheet, painting } = this;
    if (!this.shown || sheet === null || painting === null) return null;
    const regions = Object.fromEntries(painting.regions.map((label) => [painting.names[label]!, painting.count[label] ?? 0]));
    return { object: sheet.object, revision: sheet.revision, regions, version: painting.version };
  }

  /** The name of the object that is chosen; null where it cannot be sketched. */
  get object(): string | null {
    const path = this.desk.object;
    const role = this.desk.sheet?.objects.find((one) => JSON.stringify(one.path) === JSON.stringify(path))?.role;
    return path === null || path.length !== 2 || role === "obstacle" ? null : String(path[1]);
  }

  /** Why nothing can be shown; "" where it can. */
  get why(): string {
    const { object } = this.desk;
    if (this.object !== null || object === null) return "";
    const staged = object.length !== 2;
    return staged ? "Objects of stages cannot be painted or posed on the page yet: direct a shot of their own." : "An obstacle obeys nothing: choose another object on the page Direct.";
  }

  /** Shows it instead of takes, or takes again. */
  show(on: boolean): void {
    if (this.wanted === on) return;
    this.wanted = on;
    if (on) void this.follow();
    else if (this.session.guest !== null) {
      this.frame = this.session.frameNumber;
      window.setTimeout(() => { if (!this.wanted) this.session.invite(null); }); // unless another page shows it, too
    }
  }

  /** Shows what was made, on the frame it was left on. */
  private invite(): void {
    const { session, frame } = this;
    session.invite(this.guest);
    if (frame !== null) session.player.seek(session.shot.at(frame));
    this.frame = null;
  }

  /** In step with the shot and the object that is chosen. */
  private async follow(): Promise<void> {
    const { object } = this;
    const revision = this.desk.sheet?.revision;
    if (!this.wanted || revision === undefined || this.holding) return;
    if (object === null) {
      this.sheet = null;
      this.session.invite(null);
      this.tell();
      return;
    }
    if (this.sheet?.object === object && this.sheet.revision === revision) {
      if (this.guest !== null && this.session.guest === null) this.invite();
      return;
    }
    const turn = ++this.loading;
    this.asking++;
    try {
      const sheet = await api.sketch(object);
      const stamp = JSON.stringify([object, sheet.vertices, sheet.faces, sheet.paint]);
      const mesh = stamp === this.loaded ? null : unpack(await api.sketchMesh(object))[0];
      if (turn !== this.loading || !this.wanted) return;
      const before = this.sheet;
      this.sheet = sheet;
      this.loaded = stamp;
      if (mesh !== null && mesh !== undefined) this.takeMesh(mesh, before);
      else this.again();
      this.tell();
    } catch (error) {
      if (turn === this.loading) this.session.failed(error);
    } finally {
      this.asking--;
    }
  }

  private takeMesh(mesh: PackedEntry, before: SketchSheet | null): void {
    const sheet = this.sheet!;
    const take = takeOf(sheet);
    const frames = new Frames(take, MEMORY, () => this.arrived(), this.session.failed, (wanted, signal) =>
      api.sketchFrames(sheet.object, wanted.from, wanted.count, this.desk.tab, signal));
    const actor = new Actor(take, mesh);
    const first = before?.object !== sheet.object;
    this.guest = { take, actor, frames, overlay: LABELS };
    this.parts = sheet.parts.map((_, k) => (mesh.arrays.get(`part/${k}`)?.data as Uint32Array | undefined) ?? new Uint32Array(0));
    if (this.reach === null || first || this.reach.vertices !== sheet.vertices || this.reach.faces.length !== 3 * sheet.faces)
      this.reach = new Reach(actor.result.faces, sheet.vertices);
    const area = mesh.arrays.get("area")?.data as Float32Array;
    this.painting = new Painting(actor.label!, area, sheet.names, (vertices) => {
      actor.relabel(vertices);
      this.session.invalidate();
    });
    actor.relabel(Array.from(actor.label!.keys()));
    this.invite();
    if (first) this.session.frameAll(before === null);
  }

  /** Of the same mesh other frames. */
  private again(): void {
    const { guest, sheet } = this;
    if (guest === null || sheet === null) return;
    this.guest = { ...guest, take: takeOf(sheet) };
    guest.frames.restart();
    this.session.invite(this.guest);
    guest.frames.retry();
  }

  /** What is painted is what the file of this revision says. */
  wrote(sheet: SketchSheet): void {
    this.sheet = sheet;
    this.loaded = JSON.stringify([sheet.object, sheet.vertices, sheet.faces, sheet.paint]);
    this.tell();
  }

  /** Follows the shot again. */
  release(): void {
    this.holding = false;
    void this.follow();
  }

  /** As the file has it: what was tried was refused. */
  refresh(): void {
    this.sheet = this.sheet === null ? null : { ...this.sheet, revision: -1 };
    void this.follow();
  }

  /** When the sheet is that of the shot's revision, or is not asked for any more. */
  async settled(): Promise<void> {
    while (this.asking > 0 && this.sheet?.revision !== this.desk.sheet?.revision) await new Promise((done) => window.setTimeout(done, 10));
  }

  private arrived(): void {
    this.session.invalidate();
    this.session.tell("buffered");
  }

  /** Tries keys of a plan: the motion moves, before the file says so. Of tries that wait only the newest is made. */
  tryKeys(keys: unknown, met: (met: Float32Array) => void): void {
    this.next = {
      ask: () => api.tryKeys({ ...this.place, keys, frame: this.session.placeIn(this.guest!.take), tab: this.desk.tab }),
      show: (bytes) => {
        const [entry] = unpack(bytes);
        if (entry === undefined || entry.frame === null) return;
        this.guest?.frames.restart(entry.frame, entry, bytes.byteLength);
        met(entry.arrays.get("met")?.data as Float32Array);
      },
    };
    void this.pump();
  }

  /** Tries a key of a body: its surface takes the shape. */
  tryShape(told: unknown): void {
    const place = this.session.placeIn(this.guest!.take);
    this.next = {
      ask: () => api.tryShape({ ...this.place, told }),
      show: (bytes) => {
        const [entry] = unpack(bytes);
        if (entry !== undefined) this.guest?.frames.restart(place, entry, bytes.byteLength);
      },
    };
    void this.pump();
  }

  /** Tries a path of a body. */
  tryPath(told: unknown, drawn: (curve: Float32Array) => void): void {
    this.next = { ask: () => api.tryPath({ ...this.place, told }), show: (bytes) => drawn(curveOf(bytes)) };
    void this.pump();
  }

  /** Where the middle of some vertices goes, (t, 3) frame by frame; null until all frames are here. */
  way(vertices: Uint32Array): Float32Array | null {
    const { guest } = this;
    const count = guest?.take.frames.length ?? 0;
    if (guest === null || vertices.length === 0) return null;
    const way = new Float32Array(3 * count);
    for (let k = 0; k < count; k++) {
      const points = guest.frames.get(k)?.arrays.get("points");
      if (points === undefined) return null;
      way.set(middle(points, vertices), 3 * k);
    }
    return way;
  }

  /** (3,) [m] the middle of some vertices as they are drawn; null while nothing is. */
  drawnMiddle(vertices: Uint32Array): number[] | null {
    const shown = this.actor?.result.shown ?? null;
    return shown === null || vertices.length === 0 ? null : middle(shown, vertices);
  }

  get place(): { object: string; revision: number } {
    return { object: this.sheet!.object, revision: this.sheet!.revision };
  }

  private async pump(): Promise<void> {
    if (this.trying) return;
    this.trying = true;
    for (let one = this.next; one !== null; one = this.next) {
      this.next = null;
      const begun = performance.now();
      try {
        one.show(await one.ask());
        this.drawnSoon(begun, performance.now() - begun);
      } catch (error) {
        this.session.failed(error);
      }
    }
    this.trying = false;
  }

  /** When no try is under way any more; those that wait are dropped. */
  async calm(): Promise<void> {
    this.next = null;
    while (this.trying) await new Promise((done) => window.setTimeout(done, 5));
  }

  private drawnSoon(begun: number, answered: number): void {
    this.session.invalidate();
    requestAnimationFrame(() => requestAnimationFrame(() => {
      this.trials.push({ answered, drawn: performance.now() - begun });
      if (this.trials.length > 500) this.trials.shift();
    }));
  }

  /** Tries are over: the other frames of what was tried last are fetched. */
  settle(): void {
    this.guest?.frames.retry();
  }
}

/** The curve of a path as it is answered. */
export const curveOf = (bytes: ArrayBuffer): Float32Array =>
  (unpack(bytes)[0]?.arrays.get("curve")?.data as Float32Array | undefined) ?? new Float32Array(0);

function middle({ data, low, high }: PackedArray, vertices: Uint32Array): number[] {
  return [0, 1, 2].map((c) => {
    let sum = 0;
    for (const v of vertices) sum += data[3 * v + c]!;
    return low![c]! + ((high![c]! - low![c]!) * sum) / vertices.length / 65535;
  });
}

/** What the page needs to know of a take, of something that is none. */
function takeOf(sheet: SketchSheet): Take {
  return {
    number: GUEST, name: `${sheet.object}, as directed`, folder: "", object: sheet.object, state: "finished", frames: sheet.frames,
    ready: sheet.frames.length, rate: sheet.rate, vertices: sheet.vertices, faces: sheet.faces, guide_vertices: 0, guide_faces: 0,
    obstacle_faces: 0, centre: sheet.centre, radius: sheet.radius, floor: null, regions: sheet.names, overlays: [],
  };
}
