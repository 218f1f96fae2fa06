/** Regions that are painted: a label a vertex, names, and the strokes that can be taken back. */

/** the label of what is in no region */
export const FREE = -1;
/** strokes that can be taken back */
const MOST = 200;

interface Stroke {
  readonly about: string;
  readonly vertices: Uint32Array;
  readonly before: Int32Array;
  readonly after: Int32Array;
  readonly names: readonly [readonly (string | null)[], readonly (string | null)[]];
}

/** Labels as they are written: only regions with a vertex, numbered anew. */
export interface Written {
  readonly names: string[];
  readonly runs: { label: number; count: number }[];
}

export class Painting {
  /** places in `names`; those of regions that were removed are null */
  names: (string | null)[];
  readonly area: number[];
  readonly count: number[];
  /** goes up with every change */
  version = 0;
  private readonly taken: Stroke[] = [];
  private readonly undone: Stroke[] = [];
  private stroke: { about: string; before: Map<number, number>; names: readonly (string | null)[] } | null = null;
  /** names as the file has them, by label; null: it knows none of it */
  private written: (string | null)[];

  constructor(
    readonly label: Int32Array,
    /** (n,) [m²] */
    private readonly areas: Float32Array,
    names: readonly string[],
    /** is told which vertices have other labels */
    private readonly painted: (vertices: Iterable<number>) => void,
  ) {
    this.names = [...names];
    this.written = [...names];
    this.area = [];
    this.count = [];
    this.addUp();
  }

  private addUp(): void {
    this.area.length = 0;
    for (let k = 0; k < this.names.length; k++) [this.area[k], this.count[k]] = [0, 0];
    for (let v = 0; v < this.label.length; v++) this.add(this.label[v]!, v, 1);
  }

  private add(label: number, v: number, sign: number): void {
    if (label < 0) return;
    this.area[label] = (this.area[label] ?? 0) + sign * this.areas[v]!;
    this.count[label] = (this.count[label] ?? 0) + sign;
  }

  /** [m] side of a square as large as a region: the scale it keeps where the guide is obeyed region by region. */
  size(label: number): number {
    return Math.sqrt(Math.max(this.area[label] ?? 0, 0));
  }

  /** Labels of the regions there are. */
  get regions(): number[] {
    return this.names.flatMap((name, k) => (name === null ? [] : [k]));
  }

  get canUndo(): string {
    return this.taken.at(-1)?.about ?? "";
  }

  get canRedo(): string {
    return this.undone.at(-1)?.about ?? "";
  }

  /** Whether a stroke is under way. */
  get open(): boolean {
    return this.stroke !== null;
  }

  begin(about: string): void {
    this.end();
    this.stroke = { about, before: new Map(), names: [...this.names] };
  }

  /** Gives vertices a label, within a stroke. */
  put(vertices: Iterable<number>, label: number): void {
    const before = this.stroke?.before;
    if (before === undefined) throw new Error("There is no stroke.");
    const changed: number[] = [];
    for (const v of vertices) {
      const was = this.label[v]!;
      if (was === label) continue;
      if (!before.has(v)) before.set(v, was);
      this.set(v, label);
      changed.push(v);
    }
    if (changed.length > 0) this.painted(changed);
  }

  private set(v: number, label: number): void {
    this.add(this.label[v]!, v, -1);
    this.label[v] = label;
    this.add(label, v, 1);
  }

  /** The stroke is over; whether it changed anything. */
  end(): boolean {
    const { stroke } = this;
    this.stroke = null;
    if (stroke === null) return false;
    const named = stroke.names.length !== this.names.length || stroke.names.some((name, k) => name !== this.names[k]);
    if (stroke.before.size === 0 && !named) return false;
    const vertices = Uint32Array.from(stroke.before.keys());
    const before = Int32Array.from(stroke.before.values());
    const after = Int32Array.from(vertices, (v) => this.label[v]!);
    this.taken.push({ about: stroke.about, vertices, before, after, names: [stroke.names, [...this.names]] });
    if (this.taken.length > MOST) this.taken.shift();
    this.undone.length = 0;
    this.version++;
    return true;
  }

  undo(): boolean {
    return this.go(this.taken, this.undone, 0);
  }

  redo(): boolean {
    return this.go(this.undone, this.taken, 1);
  }

  private go(from: Stroke[], to: Stroke[], side: 0 | 1): boolean {
    this.end();
    const stroke = from.pop();
    if (stroke === undefined) return false;
    to.push(stroke);
    this.names = [...stroke.names[side]];
    const labels = side === 0 ? stroke.before : stroke.after;
    stroke.vertices.forEach((v, k) => this.set(v, labels[k]!));
    this.painted(stroke.vertices);
    this.version++;
    return true;
  }

  /** A region more; its label. */
  create(name: string): number {
    this.names = [...this.names, name];
    [this.area[this.names.length - 1], this.count[this.names.length - 1]] = [0, 0];
    return this.names.length - 1;
  }

  /** A name that no region has. */
  freeName(stem = "region"): string {
    for (let k = 1; ; k++) if (!this.names.includes(`${stem} ${k}`)) return `${stem} ${k}`;
  }

  rename(label: number, name: string): void {
    this.names = this.names.map((old, k) => (k === label ? name : old));
  }

  /** All of a region becomes part of another, or free. */
  dissolve(label: number, into: number): void {
    this.put([...this.of(label)], into);
    this.names = this.names.map((old, k) => (k === label ? null : old));
  }

  *of(label: number): Generator<number> {
    for (let v = 0; v < this.label.length; v++) if (this.label[v] === label) yield v;
  }

  /** As it is to be written. */
  get toWrite(): Written {
    const names: string[] = [];
    const number = this.names.map((name, k) => (name === null || (this.count[k] ?? 0) === 0 ? FREE : names.push(name) - 1));
    return { names, runs: runs(this.label, (label) => (label < 0 ? FREE : number[label]!)) };
  }

  /** Regions the file knows by another name. */
  get renamed(): { before: string; after: string }[] {
    return this.names.flatMap((name, k) => {
      const before = this.written[k] ?? null;
      return name === null || before === null || before === name ? [] : [{ before, after: name }];
    });
  }

  /** The file has it all. */
  wasWritten(names: readonly (string | null)[]): void {
    this.written = [...names];
  }
}

/** Labels as runs, each through `as`. */
export function runs(label: Int32Array, as: (label: number) => number = (one) => one): { label: number; count: number }[] {
  const found: { label: number; count: number }[] = [];
  for (const one of label) {
    const now = as(one), last = found.at(-1);
    if (last !== undefined && last.label === now) last.count++;
    else found.push({ label: now, count: 1 });
  }
  return found;
}
