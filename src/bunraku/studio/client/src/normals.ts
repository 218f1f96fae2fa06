/** Normals and relief of a surface, frame by frame, from 16-bit shares. */

/** What is worked out once for the faces of a mesh, and the room the rest needs. */
export class NormalMaker {
  private readonly sums: Float32Array;
  private readonly around: Float32Array;
  private readonly count: Float32Array;
  /** (n, 4) unit normal and relief (valleys below nought), as signed 16-bit shares */
  readonly result: Int16Array;

  private readonly withRelief: boolean;

  constructor(
    private readonly faces: Uint32Array,
    private readonly vertices: number,
    /** [m] that turns curvature into relief; 0: none */
    private readonly reliefScale: number,
  ) {
    const withRelief = reliefScale > 0;
    this.withRelief = withRelief;
    this.sums = new Float32Array(3 * vertices);
    this.around = new Float32Array(withRelief ? 3 * vertices : 0);
    this.count = new Float32Array(withRelief ? vertices : 0);
    this.result = new Int16Array(4 * vertices);
    if (withRelief) for (const v of faces) this.count[v]! += 2;
  }

  /** Fills `result` from points (n, 3); scale: what a whole share is, by axis [m]. */
  update(points: ArrayLike<number>, scale: readonly number[]): void {
    this.sums.fill(0);
    this.around.fill(0);
    if (this.withRelief) this.addFaces(points, scale);
    else this.addNormals(points, scale);
    this.finish(points, scale);
  }

  private addNormals(points: ArrayLike<number>, scale: readonly number[]): void {
    const { faces, sums } = this;
    const sx = scale[0]! / 65535, sy = scale[1]! / 65535, sz = scale[2]! / 65535;
    for (let f = 0; f < faces.length; f += 3) {
      const a = 3 * faces[f]!, b = 3 * faces[f + 1]!, c = 3 * faces[f + 2]!;
      const px = (points[b]! - points[a]!) * sx, py = (points[b + 1]! - points[a + 1]!) * sy, pz = (points[b + 2]! - points[a + 2]!) * sz;
      const qx = (points[c]! - points[a]!) * sx, qy = (points[c + 1]! - points[a + 1]!) * sy, qz = (points[c + 2]! - points[a + 2]!) * sz;
      const nx = py * qz - pz * qy, ny = pz * qx - px * qz, nz = px * qy - py * qx;
      sums[a]! += nx; sums[a + 1]! += ny; sums[a + 2]! += nz;
      sums[b]! += nx; sums[b + 1]! += ny; sums[b + 2]! += nz;
      sums[c]! += nx; sums[c + 1]! += ny; sums[c + 2]! += nz;
    }
  }

  /** As `addNormals`, and adds up the neighbours of every vertex. */
  private addFaces(points: ArrayLike<number>, scale: readonly number[]): void {
    const { faces, sums, around } = this;
    const sx = scale[0]! / 65535, sy = scale[1]! / 65535, sz = scale[2]! / 65535;
    for (let f = 0; f < faces.length; f += 3) {
      const a = 3 * faces[f]!, b = 3 * faces[f + 1]!, c = 3 * faces[f + 2]!;
      const ax = points[a]! * sx, ay = points[a + 1]! * sy, az = points[a + 2]! * sz;
      const bx = points[b]! * sx, by = points[b + 1]! * sy, bz = points[b + 2]! * sz;
      const cx = points[c]! * sx, cy = points[c + 1]! * sy, cz = points[c + 2]! * sz;
      const px = bx - ax, py = by - ay, pz = bz - az, qx = cx - ax, qy = cy - ay, qz = cz - az;
      const nx = py * qz - pz * qy, ny = pz * qx - px * qz, nz = px * qy - py * qx;
      sums[a]! += nx; sums[a + 1]! += ny; sums[a + 2]! += nz;
      sums[b]! += nx; sums[b + 1]! += ny; sums[b + 2]! += nz;
      sums[c]! += nx; sums[c + 1]! += ny; sums[c + 2]! += nz;
      around[a]! += bx + cx; around[a + 1]! += by + cy; around[a + 2]! += bz + cz;
      around[b]! += ax + cx; around[b + 1]! += ay + cy; around[b + 2]! += az + cz;
      around[c]! += ax + bx; around[c + 1]! += ay + by; around[c + 2]! += az + bz;
    }
  }

  /** Unit normals; relief: curvature, from how far a vertex stands out of its neighbours' mean. */
  private finish(points: ArrayLike<number>, scale: readonly number[]): void {
    const { sums, around, count, result, withRelief } = this;
    const sx = scale[0]! / 65535, sy = scale[1]! / 65535, sz = scale[2]! / 65535;
    for (let v = 0, i = 0, o = 0; v < this.vertices; v++, i += 3, o += 4) {
      const x = sums[i]!, y = sums[i + 1]!, z = sums[i + 2]!;
      const length = Math.sqrt(x * x + y * y + z * z);
      const unit = length > 0 ? 1 / length : 0;
      result[o] = 32767 * x * unit;
      result[o + 1] = 32767 * y * unit;
      result[o + 2] = 32767 * z * unit;
      if (!withRelief || count[v] === 0) continue;
      const share = 1 / count[v]!;
      const dx = points[i]! * sx - around[i]! * share, dy = points[i + 1]! * sy - around[i + 1]! * share, dz = points[i + 2]! * sz - around[i + 2]! * share;
      // `length` is twice the area of the faces around: some 5.5 times an edge squared. Four times this is curvature.
      const bend = (22 * (dx * x + dy * y + dz * z) * unit) / Math.max(length, 1e-14);
      result[o + 3] = 32767 * Math.max(Math.min(this.reliefScale * bend, 1), -1);
    }
  }
}
