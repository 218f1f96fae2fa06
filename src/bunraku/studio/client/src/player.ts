/** Time: which frame is shown, whether it runs, and over which range. Frames are dropped rather than slowed. */

import { clamp } from "./dom";

export interface Range {
  readonly first: number;
  readonly last: number;
}

export class Player {
  place = 0;
  playing = false;
  loop = true;
  /** pictures drawn a second while it plays, over the last second */
  fps = 0;
  range: Range;
  private exact = 0;
  private before = 0;
  private drawn: number[] = [];
  private readonly listeners: (() => void)[] = [];
  private readonly players: ((playing: boolean) => void)[] = [];

  constructor(
    private frameCount: number,
    private rate: number,
    /** whether a place can be shown: time waits for what is still on its way */
    private readonly there: (place: number) => boolean,
    /** the last place that is made */
    private readonly end: () => number,
  ) {
    this.range = { first: 0, last: Math.max(frameCount - 1, 0) };
  }

  onChange(act: () => void): void {
    this.listeners.push(act);
  }

  /** Called when it begins to play and when it stops. */
  onPlay(act: (playing: boolean) => void): void {
    this.players.push(act);
  }

  private switched(on: boolean): void {
    this.playing = on;
    this.fps = 0;
    for (const player of this.players) player(on);
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }

  get count(): number {
    return this.frameCount;
  }

  reshape(count: number, rate: number): void {
    const whole = this.range.first === 0 && this.range.last >= this.frameCount - 1;
    this.frameCount = count;
    this.rate = rate;
    const last = Math.max(count - 1, 0);
    this.range = whole ? { first: 0, last } : { first: clamp(this.range.first, 0, last), last: clamp(this.range.last, 0, last) };
    this.seek(this.place);
  }

  play(on: boolean): void {
    if (on === this.playing) return;
    this.switched(on);
    this.before = 0;
    this.drawn = [];
    const stop = Math.min(this.range.last, this.end());
    if (on && (this.place >= stop || this.place < this.range.first)) this.exact = this.place = Math.min(this.range.first, this.end());
    this.changed();
  }

  /** Goes to a place that is made, the last where it is not, and stays there. */
  seek(place: number): void {
    const target = clamp(Math.round(place), 0, Math.max(Math.min(this.frameCount - 1, this.end()), 0));
    this.exact = target;
    if (target === this.place) return;
    this.place = target;
    this.changed();
  }

  setRange(first: number, last: number): void {
    const most = Math.max(this.frameCount - 1, 0);
    const low = clamp(Math.round(first), 0, most);
    this.range = { first: low, last: clamp(Math.round(last), low, most) };
    this.changed();
  }

  setLoop(on: boolean): void {
    this.loop = on;
    this.changed();
  }

  /** Moves time on to `now` [ms]. */
  tick(now: number): void {
    if (!this.playing) return;
    const passed = this.before === 0 ? 0 : Math.min((now - this.before) / 1000, 0.5);
    this.before = now;
    const { first } = this.range;
    const last = Math.min(this.range.last, this.end());
    let next = this.exact + passed * this.rate;
    if (next >= last + 1) {
      if (!this.loop || last <= first) {
        this.switched(false);
        this.exact = this.place = last;
        this.changed();
        return;
      }
      next = first + ((next - first) % (last - first + 1));
    }
    if (!this.there(Math.floor(next))) {
      // Only as far as the next frame, so that playing goes on at once when it comes.
      next = Math.min(next, Math.floor(this.exact) + 1 - 1e-6);
      if (next < this.exact) next = this.exact;
    }
    this.exact = next;
    if (Math.floor(next) === this.place) return;
    this.place = Math.floor(next);
    this.changed();
  }

  /** A picture of a new frame was drawn while playing. */
  wasDrawn(now: number): void {
    this.drawn.push(now);
    while (this.drawn[0]! < now - 1000) this.drawn.shift();
    const span = now - this.drawn[0]!;
    this.fps = span > 200 ? ((this.drawn.length - 1) / span) * 1000 : this.fps;
  }
}
