/** Soft shade on the ground: how near above a place there is something. Worked out on a small grid, blurred. */

import { ClampToEdgeWrapping, DataTexture, LinearFilter, RedFormat, UnsignedByteType } from "three";

const GRID = 72;
/** faces beyond which only their corners are looked at: fine meshes have one in every cell */
const FINE = 24000;

export class ContactShade {
  private readonly dark = new Float32Array(GRID * GRID);
  private readonly spare = new Float32Array(GRID * GRID);
  private flat = new Float32Array(0);
  private readonly bytes = new Uint8Array(GRID * GRID);
  readonly texture: DataTexture;

  constructor(
    /** smallest x and z, and extents [m] */
    readonly box: readonly [number, number, number, number],
    private readonly floor: number,
    /** height at which shade has faded to a third [m] */
    private readonly reach: number,
  ) {
    this.texture = new DataTexture(this.bytes, GRID, GRID, RedFormat, UnsignedByteType);
    this.texture.minFilter = this.texture.magFilter = LinearFilter;
    this.texture.wrapS = this.texture.wrapT = ClampToEdgeWrapping;
  }

  clear(): void {
    this.dark.fill(0);
  }

  /** Points (n, 3) as shares: low + step · share [m]; faces (f, 3). */
  add(points: ArrayLike<number>, low: readonly number[], step: readonly number[], faces: Uint32Array): void {
    const [x0, z0, width, depth] = this.box;
    const count = points.length / 3;
    if (this.flat.length < points.length) this.flat = new Float32Array(points.length);
    const { flat } = this;
    const ax = (GRID * step[0]!) / width, bx = (GRID * (low[0]! - x0)) / width;
    const az = (GRID * step[2]!) / depth, bz = (GRID * (low[2]! - z0)) / depth;
    for (let v = 0, i = 0; v < count; v++, i += 3) {
      flat[i] = bx + ax * points[i]!;
      flat[i + 1] = bz + az * points[i + 2]!;
      flat[i + 2] = this.weight(low[1]! + step[1]! * points[i + 1]! - this.floor);
      this.dot(flat[i]!, flat[i + 1]!, flat[i + 2]!);
    }
    if (faces.length / 3 > FINE) return;
    for (let f = 0; f < faces.length; f += 3) this.triangle(3 * faces[f]!, 3 * faces[f + 1]!, 3 * faces[f + 2]!);
  }

  private weight(height: number): number {
    const fall = Math.exp(-Math.max(height, 0) / (4 * this.reach));
    return 0.22 * fall + 0.78 * fall * fall * fall * fall;
  }

  private dot(x: number, z: number, weight: number): void {
    if (!(x >= 0 && z >= 0 && x < GRID && z < GRID)) return;
    const cell = (z | 0) * GRID + (x | 0);
    if (weight > this.dark[cell]!) this.dark[cell] = weight;
  }

  /** Cells whose middle is under a triangle; a, b, c: where its corners are in `flat`. */
  private triangle(a: number, b: number, c: number): void {
    const { flat } = this;
    const ax = flat[a]!, az = flat[a + 1]!, aw = flat[a + 2]!;
    const bx = flat[b]! - ax, bz = flat[b + 1]! - az, cx = flat[c]! - ax, cz = flat[c + 1]! - az;
    const area = bx * cz - bz * cx;
    if (Math.abs(area) < 0.5) return; // smaller than half a cell: its corners say enough
    const left = Math.max(Math.floor(ax + Math.min(0, bx, cx)), 0), right = Math.min(Math.ceil(ax + Math.max(0, bx, cx)), GRID);
    const top = Math.max(Math.floor(az + Math.min(0, bz, cz)), 0), bottom = Math.min(Math.ceil(az + Math.max(0, bz, cz)), GRID);
    for (let z = top; z < bottom; z++) {
      for (let x = left; x < right; x++) {
        const px = x + 0.5 - ax, pz = z + 0.5 - az;
        const v = (px * cz - pz * cx) / area, w = (bx * pz - bz * px) / area;
        if (v >= 0 && w >= 0 && v + w <= 1) this.dot(x, z, aw + v * (flat[b + 2]! - aw) + w * (flat[c + 2]! - aw));
      }
    }
  }

  /** Blurs what was added and hands it to the graphics card. */
  finish(): void {
    for (const radius of [1, 2, 3]) {
      blur(this.dark, this.spare, radius, 1, GRID);
      blur(this.spare, this.dark, radius, GRID, 1);
    }
    for (let i = 0; i < this.dark.length; i++) this.bytes[i] = 255 * Math.min(this.dark[i]!, 1);
    this.texture.needsUpdate = true;
  }
}

/** A running mean over 2 radius + 1 cells along one axis. */
function blur(from: Float32Array, to: Float32Array, radius: number, step: number, row: number): void {
  const share = 1 / (2 * radius + 1);
  for (let line = 0; line < GRID; line++) {
    const start = line * row;
    let sum = 0;
    for (let i = -radius; i < GRID + radius; i++) {
      if (i + radius < GRID) sum += from[start + Math.max(i + radius, 0) * step]! * (i + radius >= 0 ? 1 : 0);
      if (i - radius - 1 >= 0) sum -= from[start + (i - radius - 1) * step]!;
      if (i >= 0 && i < GRID) to[start + i * step] = sum * share;
    }
  }
}
