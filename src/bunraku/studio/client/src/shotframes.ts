/** One time line for several takes: all their frame numbers, and which frame of a take belongs to each. */

import type { Take } from "./messages";

export class ShotFrames {
  /** frame numbers, rising */
  readonly numbers: readonly number[];
  readonly rate: number;

  constructor(takes: readonly Take[]) {
    const all = new Set(takes.flatMap((take) => take.frames));
    this.numbers = [...all].sort((a, b) => a - b);
    this.rate = takes[0]?.rate ?? 24;
  }

  get count(): number {
    return this.numbers.length;
  }

  /** The place in the time line of a frame number: the last that is not later. */
  at(frame: number): number {
    return Math.max(lastNotAbove(this.numbers, frame), 0);
  }
}

/** Whether a frame number lies between a take's first and last. */
export const isWithin = ({ frames }: Take, frame: number): boolean =>
  frames.length > 0 && frame > frames[0]! - 1e-9 && frame < frames.at(-1)! + 1e-9;

/** The place in a take of a frame number; what is before its first shows the first. */
export const placeOf = (take: Take, frame: number): number => Math.max(lastNotAbove(take.frames, frame), 0);

function lastNotAbove(numbers: readonly number[], value: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! <= value + 1e-9) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
