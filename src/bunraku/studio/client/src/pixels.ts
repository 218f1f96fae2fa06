/** How many pixels a picture has: fewer while it moves, where a machine needs that. */

import type { Player } from "./player";
import type { Painter } from "./views";

/** at most so many pixels a point of the screen */
const RATIO = 2;

export class Pixels {
  /** whether pictures drawn without a graphics card are as fine as others */
  fine = false;
  private coarse = 1;
  private size = { width: 1, height: 1 };
  private nextLook = 0;
  /** pictures a second before the last step to fewer pixels */
  private before: number | null = null;

  constructor(
    private readonly painter: Painter,
    private readonly player: Player,
  ) {}

  /** The canvas's size in points of the screen. */
  resize(width: number, height: number): void {
    this.size = { width, height };
    this.set(this.fine);
  }

  /** Playing begins or ends. */
  restart(now: number): void {
    this.nextLook = now + 1200;
    this.before = null;
    if (this.coarse < 1 || this.fine) this.set(false);
  }

  /** Without a graphics card: one pixel a point while something moves, four when it rests; fewer where playing lags. */
  set(fine: boolean): void {
    this.fine = fine;
    const whole = this.painter.software ? (fine ? RATIO : 1) : Math.min(devicePixelRatio, RATIO);
    const ratio = this.player.playing ? whole * this.coarse : whole;
    this.painter.resize(this.size.width * ratio, this.size.height * ratio);
  }

  /** While it plays: fewer pixels, step by step, until the shot's rate is reached or fewer do not help. */
  keepUp(now: number, rate: number): void {
    const { playing, fps } = this.player;
    if (!playing || fps === 0 || now < this.nextLook) return;
    this.nextLook = now + 1100;
    const { before } = this;
    this.before = null;
    if (before !== null && fps < 1.15 * before) {
      this.coarse /= 0.75;
      this.nextLook = Infinity;
    } else if (fps < 0.85 * rate && this.coarse > 0.5) {
      this.coarse *= 0.75;
      this.before = fps;
    } else return;
    this.set(false);
  }
}
