/** How far a slider goes: as far as is allowed where that is narrow, else about what holds now; and keys over time. */

import { clamp } from "../dom";
import type { Knob } from "../messages";

/** [frame, value] or [frame, value, ease]: how the key is come to */
export type Key = readonly [number, number, string?];
export const EASES = ["linear", "smooth", "hold"] as const;

/** a range wider than this is not gone through from end to end, nor is one in which what holds lies at its very end */
const WIDE = 10;
const END = 0.02;
const STEPS = 1000;
/** so many times more and less than what holds */
const REACH = 100;

export interface Scale {
  readonly low: number;
  readonly high: number;
  readonly log: boolean;
}

export const isKeys = (value: unknown): value is readonly Key[] => Array.isArray(value) && Array.isArray(value[0]);

/** The value that holds: as the file says it, else the default. */
export const held = (knob: Knob): unknown => knob.value ?? knob.default;

/** The number at a frame; null where none is known. */
export function numberAt(knob: Knob, frame: number): number | null {
  const value = held(knob);
  if (typeof value === "number") return value;
  return isKeys(value) ? valueAt(value, frame) : null;
}

/** As `Curve.at` has it: constant outside, the ease is that of the key that is come to. */
export function valueAt(keys: readonly Key[], frame: number): number {
  const after = keys.findIndex(([at]) => at > frame);
  if (after === 0) return keys[0]![1];
  if (after < 0) return keys.at(-1)![1];
  const [from, a] = keys[after - 1]!, [to, b, ease] = keys[after]!;
  const u = (frame - from) / (to - from);
  const share = ease === "hold" ? 0 : ease === "smooth" ? u * u * (3 - 2 * u) : u;
  return a + share * (b - a);
}

export function scaleOf(knob: Knob): Scale {
  const low = knob.low ?? -Infinity, high = knob.high ?? Infinity;
  const value = held(knob);
  const known = isKeys(value) ? value.map((key) => key[1]) : [value, knob.default].filter((one) => typeof one === "number");
  const sizes = (known as number[]).map(Math.abs).filter((size) => size > 0);
  const small = low >= 0 && high - low > 1 && sizes.length > 0 && Math.max(...sizes) < END * high;
  if (high - low <= WIDE && !small) return { low, high, log: false };
  const middle = sizes.length > 0 ? Math.max(...sizes) : 1;
  if (knob.kind === "whole") return { low: Math.max(low, low < 0 ? -4 * middle : low), high: Math.min(high, Math.max(4 * middle, (low > -1e6 ? low : 0) + 8)), log: false };
  if (low < 0) return { low: Math.max(low, -2 * middle), high: Math.min(high, 2 * middle), log: false };
  const least = sizes.length > 0 ? Math.min(...sizes) : 1;
  return { low: Math.max(low, least / REACH), high: Math.min(high, middle * REACH), log: true };
}

export function shareIn({ low, high, log }: Scale, value: number): number {
  if (log) return clamp(Math.log(Math.max(value, low) / low) / Math.log(high / low), 0, 1);
  return clamp((value - low) / (high - low), 0, 1);
}

/** The value at a share, with no more digits than a hand can mean. */
export function valueIn({ low, high, log }: Scale, share: number): number {
  const u = clamp(share, 0, 1);
  if (u === 0 || u === 1) return u === 0 ? low : high;
  const value = log ? low * (high / low) ** u : low + u * (high - low);
  if (log) return Number(value.toPrecision(3));
  const digits = Math.max(3 - Math.floor(Math.log10(high - low)), 0);
  return clamp(Number(value.toFixed(Math.min(digits, 12))), low, high);
}

/** In how many steps a slider goes through its scale: those of whole numbers are one each. */
export function stepsOf(knob: Knob, { low, high }: Scale): number {
  return knob.kind === "whole" ? clamp(Math.round(high - low), 1, STEPS) : STEPS;
}

/** A number as a knob allows it: within its ends, whole where it must be. */
export function allowed(knob: Knob, value: number): number {
  const within = clamp(value, knob.low ?? -Infinity, knob.high ?? Infinity);
  return knob.kind === "whole" ? Math.round(within) : within;
}

/** The keys with one more, or one moved; in order, never two on a frame. */
export function withKey(keys: readonly Key[], key: Key): Key[] {
  return [...keys.filter(([at]) => at !== key[0]), key].sort((a, b) => a[0] - b[0]);
}
