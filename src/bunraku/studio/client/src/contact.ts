/** Soft shade on the ground: how near above a place there is something. Worked out on a small grid, blurred. */

import { ClampToEdgeWrapping, DataTexture, LinearFilter, RedFormat, UnsignedByteType } from "three";

const GRID = 72;
/** faces beyond which only their corners are looked at: fine meshes have one in every cell */
const FINE = 24000;

export class ContactShade {
  private readonly dark = new Float32Array(GRID * GRID);
  private readonly spare = new Float32Array(GRID * GRID);
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

  /** Points (n, 3) as shares, or metres with low 0 and step 1; faces (f, 3). */
  add(points: ArrayLike<number>, low: readonly number[], step: readonly number[], faces: Uint32Array): void {
    const [x0, z0, width, depth] = this.box;
    const place = (v: number): [number, number, number] => [
      ((low[0]! + step[0]! * points[3 * v]! - x0) / width) * GRID,
      ((low[2]! + step[2]! * points[3 * v + 2]! - z0) / depth) * GRID,
      this.weight(low[1]! + step[1]! * points[3 * v + 1]! - this.floor),
    ];
    if (faces.length / 3 > FINE) {
      for (let v = 0; v < points.length / 3; v++) this.dot(...place(v));
      return;
    }
    for (let f = 0; f < faces.length; f += 3) this.triangle(place(faces[f]!), place(faces[f + 1]!), place(faces[f + 2]!));
  }

  private weight(height: number): number {
    return 0.22 * Math.exp(-Math.max(height, 0) / (4 * this.reach)) + 0.78 * Math.exp(-Math.max(height, 0) / this.reach);
  }

  private dot(x: number, z: number, weight: number): void {
    if (!(x >= 0 && z >= 0 && x < GRID && z < GRID)) return;
    const cell = (z | 0) * GRID + (x | 0);
    if (weight > this.dark[cell]!) this.dark[cell] = weight;
  }

  private triangle(a: readonly number[], b: readonly number[], c: readonly number[]): void {
    const [ax, az, aw] = a as [number, number, number], [bx, bz, bw] = b as [number, number, number], [cx, cz, cw] = c as [number, number, number];
    this.dot(ax, az, aw);
    const area = (bx - ax) * (cz - az) - (bz - az) * (cx - ax);
    if (Math.abs(area) < 0.5) return; // smaller than half a cell: its corners say enough
    const left = Math.max(Math.floor(Math.min(ax, bx, cx)), 0), right = Math.min(Math.ceil(Math.max(ax, bx, cx)), GRID);
    const top = Math.max(Math.floor(Math.min(az, bz, cz)), 0), bottom = Math.min(Math.ceil(Math.max(az, bz, cz)), GRID);
    for (let z = top; z < bottom; z++) {
      for (let x = left; x < right; x++) {
        const px = x + 0.5 - ax, pz = z + 0.5 - az;
        const v = (px * (cz - az) - pz * (cx - ax)) / area;
        const w = ((bx - ax) * pz - (bz - az) * px) / area;
        if (v >= 0 && w >= 0 && v + w <= 1) this.dot(x, z, aw + v * (bw - aw) + w * (cw - aw));
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
