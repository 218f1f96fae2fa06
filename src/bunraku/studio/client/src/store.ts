/** What someone chose to see: one object, and who wants to know when part of it changes. */

export type Mode = "side" | "over" | "result" | "grid" | "wipe";
export type Theme = "auto" | "light" | "dark";

export interface Look {
  readonly mode: Mode;
  /** numbers of the takes that are shown where several are */
  readonly shown: readonly number[];
  /** the take whose report and guide are shown; the left one of a wipe */
  readonly active: number;
  /** the right one of a wipe */
  readonly other: number;
  /** where the wipe divides the picture, 0 to 1 */
  readonly split: number;
  readonly overlay: string | null;
  /** ends of the colour scale by overlay, where someone changed them */
  readonly ends: Readonly<Record<string, readonly [number, number]>>;
  readonly wire: boolean;
  /** the region chosen, by its number in the take in which it was */
  readonly region: number | null;
  readonly regionTake: number | null;
  /** names of the curves shown; null: the first few */
  readonly curves: readonly string[] | null;
  readonly theme: Theme;
  readonly panel: boolean;
  readonly chart: boolean;
  readonly follow: boolean;
}

type Listener = (look: Look, changed: ReadonlySet<keyof Look>) => void;

export class Store {
  private readonly listeners: Listener[] = [];

  constructor(private current: Look) {}

  get look(): Look {
    return this.current;
  }

  set(change: Partial<Look>): void {
    const changed = new Set<keyof Look>();
    for (const key of Object.keys(change) as (keyof Look)[]) if (change[key] !== this.current[key]) changed.add(key);
    if (changed.size === 0) return;
    this.current = { ...this.current, ...change };
    for (const listener of this.listeners) listener(this.current, changed);
  }

  /** Called now, and whenever one of these keys changes. */
  watch(keys: readonly (keyof Look)[], act: (look: Look) => void): void {
    this.listeners.push((look, changed) => {
      if (keys.some((key) => changed.has(key))) act(look);
    });
    act(this.current);
  }
}

export const FIRST_LOOK: Look = {
  mode: "side",
  shown: [],
  active: 0,
  other: 0,
  split: 0.5,
  overlay: null,
  ends: {},
  wire: false,
  region: null,
  regionTake: null,
  curves: null,
  theme: "auto",
  panel: true,
  chart: true,
  follow: false,
};
