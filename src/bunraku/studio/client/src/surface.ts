/** A surface on the graphics card: its shares as they came, normals made here, lines over it. */

import { BufferAttribute, BufferGeometry, DynamicDrawUsage, LineSegments, Mesh, type RawShaderMaterial, type Vector3 } from "three";
import { NormalMaker } from "./normals";
import { lineMaterial, surfaceMaterial, type Paint, type SurfaceMaterial } from "./shading";
import type { PackedArray } from "./parcels";

export class Surface {
  readonly mesh: Mesh<BufferGeometry, SurfaceMaterial>;
  private readonly geometry = new BufferGeometry();
  private readonly position: BufferAttribute;
  private readonly normal: BufferAttribute;
  private readonly value: BufferAttribute;
  readonly tint: BufferAttribute;
  private readonly maker: NormalMaker;
  private lines: LineSegments<BufferGeometry, RawShaderMaterial> | null = null;
  /** the points shown, as they came */
  shown: PackedArray | null = null;

  constructor(
    readonly faces: Uint32Array,
    readonly vertices: number,
    private readonly paint: Paint,
    /** size of the scene [m] */
    size: number,
    private readonly edgeInk: readonly [number, number, number],
  ) {
    this.position = attribute(new Uint16Array(3 * vertices), 3, true);
    this.maker = new NormalMaker(faces, vertices, paint.relief > 0 ? 0.035 * size : 0);
    this.normal = attribute(this.maker.result, 4, true);
    this.value = attribute(new Float32Array(paint.relief > 0 ? vertices : 1), 1, false);
    this.tint = attribute(new Uint8Array(paint.relief > 0 ? 4 * vertices : 4), 4, true);
    this.geometry.setAttribute("position", this.position);
    if (!paint.flat) this.geometry.setAttribute("normal4", this.normal);
    if (paint.relief > 0) {
      this.geometry.setAttribute("value", this.value);
      this.geometry.setAttribute("tint", this.tint);
    }
    this.geometry.setIndex(new BufferAttribute(faces, 1));
    this.mesh = new Mesh(this.geometry, surfaceMaterial(paint));
    this.mesh.frustumCulled = false;
  }

  /** Shows points (n, 3) of shares. */
  setPoints(points: PackedArray): void {
    if (points === this.shown || points.low === null || points.high === null) return;
    this.shown = points;
    const { low, high } = points;
    const span = low.map((value, c) => high[c]! - value);
    (this.position.array as Uint16Array).set(points.data as Uint16Array);
    this.position.needsUpdate = true;
    if (!this.paint.flat) {
      this.maker.update(points.data, span);
      this.normal.needsUpdate = true;
    }
    for (const material of [this.mesh.material, this.lines?.material]) {
      if (material === undefined) continue;
      (material.uniforms["low"]!.value as Vector3).fromArray(low as number[]);
      (material.uniforms["span"]!.value as Vector3).fromArray(span);
    }
  }

  /** (n, 4) normals of the points shown, 16 bits each, and relief. */
  get normals(): Int16Array {
    return this.maker.result;
  }

  get values(): Float32Array {
    return this.value.array as Float32Array;
  }

  valuesChanged(): void {
    this.value.needsUpdate = true;
  }

  get hasEdges(): boolean {
    return this.lines !== null;
  }

  /** Edges are drawn over the faces, which step back a little; only then, for it frays their outline. */
  showEdges(on: boolean, through = false): void {
    const lines = this.edges();
    lines.visible = on;
    lines.material.depthTest = !through; // seen through whatever lies before them
    lines.renderOrder = through ? 5 : 2;
    this.mesh.material.polygonOffset = on;
  }

  /** The mesh's edges, made when first asked for. */
  private edges(): LineSegments<BufferGeometry, RawShaderMaterial> {
    if (this.lines !== null) return this.lines;
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", this.position);
    geometry.setIndex(new BufferAttribute(edgesOf(this.faces, this.vertices), 1));
    const made = new LineSegments(geometry, lineMaterial(this.edgeInk, 0.5));
    made.frustumCulled = false;
    made.renderOrder = 2;
    made.material.uniforms["low"]!.value = this.mesh.material.uniforms["low"]!.value;
    made.material.uniforms["span"]!.value = this.mesh.material.uniforms["span"]!.value;
    this.lines = made;
    this.mesh.parent?.add(made);
    return made;
  }
}

function attribute(data: Uint16Array | Int16Array | Float32Array | Uint8Array, size: number, shares: boolean): BufferAttribute {
  return new BufferAttribute(data, size, shares).setUsage(DynamicDrawUsage);
}

/** (e, 2) every edge of triangles once. */
function edgesOf(faces: Uint32Array, vertices: number): Uint32Array {
  const keys = new Float64Array(faces.length);
  for (let f = 0; f < faces.length; f += 3) {
    for (let i = 0; i < 3; i++) {
      const a = faces[f + i]!, b = faces[f + ((i + 1) % 3)]!;
      keys[f + i] = Math.min(a, b) * vertices + Math.max(a, b);
    }
  }
  keys.sort();
  const edges: number[] = [];
  for (let k = 0; k < keys.length; k++) {
    if (k > 0 && keys[k] === keys[k - 1]) continue;
    edges.push(Math.floor(keys[k]! / vertices), keys[k]! % vertices);
  }
  return new Uint32Array(edges);
}
