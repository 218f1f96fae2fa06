/** What of a surface a brush reaches: what hangs together with the place under it, within its radius, on the side that is seen. */

export class Reach {
  private readonly starts: Uint32Array;
  private readonly around: Uint32Array;
  private readonly seen: Int32Array;
  private readonly queue: Uint32Array;
  private stamp = 0;

  constructor(
    readonly faces: Uint32Array,
    readonly vertices: number,
  ) {
    this.starts = new Uint32Array(vertices + 1);
    for (const v of faces) this.starts[v + 1]! += 2;
    for (let v = 0; v < vertices; v++) this.starts[v + 1]! += this.starts[v]!;
    this.around = new Uint32Array(2 * faces.length);
    const filled = this.starts.slice(0, vertices);
    for (let f = 0; f < faces.length; f += 3) {
      for (let i = 0; i < 3; i++) {
        const v = faces[f + i]!;
        this.around[filled[v]!++] = faces[f + ((i + 1) % 3)]!;
        this.around[filled[v]!++] = faces[f + ((i + 2) % 3)]!;
      }
    }
    this.seen = new Int32Array(vertices);
    this.queue = new Uint32Array(vertices);
  }

  /**
   * Vertices within `radius` [m] of a place on a face, at points x (n, 3), that are joined with it by edges inside the
   * ball; with `eye` only those whose normals (n, 4), of any length, look at it. Where the mesh is coarser than the
   * brush, `nearest`. The result is overwritten by the next call.
   */
  ball(
    x: Float32Array, place: readonly number[], face: number, nearest: number, radius: number,
    eye: readonly number[] | null, normals: Int16Array,
  ): Uint32Array {
    const [px, py, pz] = place as [number, number, number];
    const limit = radius * radius;
    const inside = (v: number): boolean => {
      const dx = x[3 * v]! - px, dy = x[3 * v + 1]! - py, dz = x[3 * v + 2]! - pz;
      return dx * dx + dy * dy + dz * dz <= limit && (eye === null || this.looks(v, x, eye, normals));
    };
    const found = this.grown([this.faces[face]!, this.faces[face + 1]!, this.faces[face + 2]!], inside);
    if (found.length > 0) return found;
    this.queue[0] = nearest;
    return this.queue.subarray(0, 1);
  }

  /** All that hangs together with a vertex and is of the same label. */
  patch(vertex: number, label: Int32Array): Uint32Array {
    const own = label[vertex];
    return this.grown([vertex], (v) => label[v] === own);
  }

  private looks(v: number, x: Float32Array, eye: readonly number[], normals: Int16Array): boolean {
    return (
      normals[4 * v]! * (eye[0]! - x[3 * v]!) + normals[4 * v + 1]! * (eye[1]! - x[3 * v + 1]!)
      + normals[4 * v + 2]! * (eye[2]! - x[3 * v + 2]!) > 0
    );
  }

  private grown(from: readonly number[], inside: (vertex: number) => boolean): Uint32Array {
    const { starts, around, seen, queue } = this;
    const stamp = ++this.stamp;
    let end = 0;
    for (const v of from) {
      if (seen[v] === stamp) continue;
      seen[v] = stamp;
      if (inside(v)) queue[end++] = v;
    }
    for (let k = 0; k < end; k++) {
      const v = queue[k]!;
      for (let i = starts[v]!; i < starts[v + 1]!; i++) {
        const other = around[i]!;
        if (seen[other] === stamp) continue;
        seen[other] = stamp;
        if (inside(other)) queue[end++] = other;
      }
    }
    return queue.subarray(0, end);
  }
}
