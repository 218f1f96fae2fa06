/** One camera for all views: it circles a target. Angles in radians, lengths in metres, y is up. */

import { PerspectiveCamera, Vector3 } from "three";
import { clamp } from "./dom";

/** long lenses flatter a product: the angle of the project's own pictures */
const FIELD = 26;
const HALF = (FIELD * Math.PI) / 360;

export interface Pose {
  readonly turn: number;
  readonly rise: number;
  /** radius of the ball about the target that just fits into a view [m]: the same picture in views of any shape */
  readonly reach: number;
  readonly target: readonly [number, number, number];
}

export class OrbitCamera {
  readonly camera = new PerspectiveCamera(FIELD, 1, 0.01, 100);
  private pose: Pose = { turn: 0.46, rise: 0.28, reach: 1, target: [0, 0, 0] };
  private goal: Pose | null = null;
  private size = 1;

  constructor(private readonly moved: () => void) {
    this.place();
  }

  get at(): Pose {
    return this.goal ?? this.pose;
  }

  /** The size of the scene [m]: how near and far there is something to see. */
  setSize(radius: number): void {
    this.size = Math.max(radius, 1e-6);
    this.place();
  }

  set(pose: Pose): void {
    this.goal = null;
    this.pose = { ...pose, rise: clamp(pose.rise, -1.55, 1.55), reach: clamp(pose.reach, 0.01 * this.size, 20 * this.size) };
    this.place();
    this.moved();
  }

  /** Goes there in a moment; at once for those who want no motion. */
  glide(pose: Pose): void {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) this.set(pose);
    else this.goal = pose;
  }

  /** Part of the way to the goal; whether there is more to go. */
  tick(seconds: number): boolean {
    const goal = this.goal;
    if (goal === null) return false;
    const share = 1 - Math.exp(-14 * seconds);
    const mix = (a: number, b: number): number => a + share * (b - a);
    const { pose } = this;
    const target = pose.target.map((value, i) => mix(value, goal.target[i]!)) as [number, number, number];
    const next = { turn: mix(pose.turn, goal.turn), rise: mix(pose.rise, goal.rise), reach: mix(pose.reach, goal.reach), target };
    const gap = Math.abs(next.turn - goal.turn) + Math.abs(next.rise - goal.rise) + Math.abs(next.reach / goal.reach - 1)
      + target.reduce((sum, value, i) => sum + Math.abs(value - goal.target[i]!), 0) / this.size;
    this.set(gap < 2e-3 ? goal : next);
    this.goal = gap < 2e-3 ? null : goal;
    return true;
  }

  orbit(turn: number, rise: number): void {
    const { at } = this;
    this.set({ ...at, turn: at.turn + turn, rise: at.rise + rise });
  }

  /** Moves the target by shares of the picture's height. */
  pan(right: number, up: number): void {
    const { at } = this;
    const height = 2 * this.distance * Math.tan(HALF);
    const x = new Vector3().setFromMatrixColumn(this.camera.matrixWorld, 0).multiplyScalar(right * height);
    const y = new Vector3().setFromMatrixColumn(this.camera.matrixWorld, 1).multiplyScalar(up * height);
    this.set({ ...at, target: [at.target[0] + x.x + y.x, at.target[1] + x.y + y.y, at.target[2] + x.z + y.z] });
  }

  dolly(factor: number): void {
    this.set({ ...this.at, reach: this.at.reach * factor });
  }

  /** Sees a ball whole. */
  frame(centre: readonly number[], radius: number, now = false): void {
    const pose: Pose = { ...this.at, reach: 1.02 * Math.max(radius, 1e-6), target: [centre[0]!, centre[1]!, centre[2]!] };
    if (now) this.set(pose);
    else this.glide(pose);
  }

  look(turn: number, rise: number): void {
    const whole = 2 * Math.PI;
    // The short way round.
    const from = this.at.turn;
    const way = ((((turn - from + Math.PI) % whole) + whole) % whole) - Math.PI;
    this.glide({ ...this.at, turn: from + way, rise });
  }

  setAspect(aspect: number): void {
    if (aspect === this.camera.aspect) return;
    this.camera.aspect = aspect;
    this.place();
  }

  /** From eye to target [m]. */
  private get distance(): number {
    const narrow = Math.min(HALF, Math.atan(Math.tan(HALF) * this.camera.aspect));
    return this.pose.reach / Math.sin(narrow);
  }

  private place(): void {
    const { turn, rise, target } = this.pose;
    const { distance } = this;
    const [x, y, z] = target;
    const flat = distance * Math.cos(rise);
    this.camera.position.set(x + flat * Math.sin(turn), y + distance * Math.sin(rise), z + flat * Math.cos(turn));
    this.camera.lookAt(x, y, z);
    this.camera.near = Math.max(distance - 6 * this.size, 0.01 * distance);
    this.camera.far = distance + 14 * this.size;
    this.camera.updateProjectionMatrix();
    this.camera.updateMatrixWorld();
  }
}
