/** A take in three dimensions: result, guide, obstacles, ground, and what is drawn on them. */

import { BufferAttribute, BufferGeometry, LineSegments, Mesh, PlaneGeometry, Points, Scene, type Color, type RawShaderMaterial, type Vector3 } from "three";
import { ContactShade } from "./contact";
import type { Overlay, Take } from "./messages";
import { numbers, type PackedArray, type PackedEntry } from "./parcels";
import { regionColour } from "./ramp";
import { dotMaterial, floorMaterial, GUIDE, lineMaterial, OBSTACLE, RESULT } from "./shading";
import { Surface } from "./surface";

/** guides with fewer faces are shown flat, edge by edge: that is what was modelled */
const COARSE = 6000;

const PLAIN = RESULT.front.map((share) => Math.round(255 * share));

export type Part = "result" | "guide" | "over";

export class Actor {
  readonly scene = new Scene();
  readonly result: Surface;
  readonly guide: Surface | null;
  readonly obstacles: Surface | null;
  readonly label: Int32Array | null;
  private readonly segments = new LineSegments(new BufferGeometry(), lineMaterial([0.8, 0.16, 0.1], 1));
  private readonly dots = new Points(new BufferGeometry(), dotMaterial([0.8, 0.16, 0.1]));
  private readonly floor: Mesh<PlaneGeometry, RawShaderMaterial> | null = null;
  private readonly shades: { result: ContactShade; guide: ContactShade } | null = null;
  private shaded: { result: PackedArray | null; guide: PackedArray | null } = { result: null, guide: null };
  private entry: PackedEntry | null = null;
  private overlay: Overlay | null = null;
  private wire = false;
  private hasSegments = false;
  /** whether the values shown belong to the frame shown */
  hasValues = false;

  constructor(
    readonly take: Take,
    mesh: PackedEntry,
  ) {
    const faces = (name: string): Uint32Array => (mesh.arrays.get(name)?.data as Uint32Array | undefined) ?? new Uint32Array(0);
    this.label = (mesh.arrays.get("label")?.data as Int32Array | undefined) ?? null;
    this.result = this.add(new Surface(faces("faces"), take.vertices, RESULT, take.radius, [0.16, 0.14, 0.12]));
    const guide = faces("guide_faces");
    const coarse = guide.length / 3 < COARSE;
    this.guide = guide.length === 0 ? null : this.add(new Surface(guide, take.guide_vertices, { ...GUIDE, flat: coarse }, take.radius, [0.16, 0.24, 0.35]));
    const around = faces("obstacle_faces");
    this.obstacles = around.length === 0 ? null : this.add(new Surface(around, largest(around) + 1, OBSTACLE, take.radius, [0.2, 0.2, 0.2]));
    this.segments.frustumCulled = this.dots.frustumCulled = false;
    this.segments.renderOrder = 3;
    this.dots.renderOrder = 6;
    this.scene.add(this.segments, this.dots);
    if (take.floor !== null) [this.floor, this.shades] = this.addFloor(take.floor);
    this.paintLabels(null);
  }

  private add(surface: Surface): Surface {
    this.scene.add(surface.mesh);
    return surface;
  }

  private addFloor(height: number): [Mesh<PlaneGeometry, RawShaderMaterial>, { result: ContactShade; guide: ContactShade }] {
    const { centre, radius } = this.take;
    const reach = 1.25 * radius;
    const box = [centre[0]! - reach, centre[2]! - reach, 2 * reach, 2 * reach] as const;
    const shade = (): ContactShade => new ContactShade(box, height, 0.16 * radius);
    const floor = new Mesh(new PlaneGeometry(9 * radius, 9 * radius).rotateX(-Math.PI / 2), floorMaterial());
    floor.position.set(centre[0]!, height - 0.002 * radius, centre[2]!);
    floor.renderOrder = -1;
    const { uniforms } = floor.material;
    (uniforms["centre"]!.value as Vector3).fromArray(centre as number[]);
    uniforms["radius"]!.value = radius;
    uniforms["box"]!.value = [...box];
    this.scene.add(floor);
    return [floor, { result: shade(), guide: shade() }];
  }

  /** Shows a frame. */
  show(entry: PackedEntry): void {
    if (entry === this.entry) return;
    this.entry = entry;
    const points = entry.arrays.get("points");
    if (points !== undefined) this.result.setPoints(points);
    const guide = entry.arrays.get("guide");
    if (guide !== undefined) this.guide?.setPoints(guide);
    const obstacles = entry.arrays.get("obstacles");
    if (obstacles !== undefined) this.obstacles?.setPoints(obstacles);
    this.showValues();
  }

  setOverlay(overlay: Overlay | null, ends: readonly [number, number]): void {
    const other = overlay?.name !== this.overlay?.name;
    this.overlay = overlay;
    this.result.mesh.material.uniforms["ends"]!.value = [ends[0], ends[1] > ends[0] ? ends[1] : ends[0] + 1e-12];
    if (other) this.showValues();
  }

  private showValues(): void {
    const { overlay, entry } = this;
    const array = overlay === null ? undefined : entry?.arrays.get(overlay.name);
    const { uniforms } = this.result.mesh.material;
    this.hasSegments = overlay?.draws === "segments" && array !== undefined;
    this.hasValues = overlay?.draws === "values" && array !== undefined;
    uniforms["paintBy"]!.value = overlay?.draws === "labels" ? 2 : this.hasValues ? 1 : 0;
    if (array === undefined) return;
    if (overlay?.draws === "values") {
      numbers(array, this.result.values);
      this.result.valuesChanged();
    } else if (overlay?.draws === "segments") {
      this.showSegments(numbers(array));
    }
  }

  /** Segments (m, 2, 3): lines, and a dot at the middle of each. */
  private showSegments(ends: Float32Array): void {
    const middles = new Float32Array(ends.length / 2);
    for (let i = 0; i < middles.length; i++) {
      const first = 6 * Math.floor(i / 3) + (i % 3);
      middles[i] = 0.5 * (ends[first]! + ends[first + 3]!);
    }
    for (const [drawn, points] of [[this.segments, ends], [this.dots, middles]] as const) {
      drawn.geometry.dispose();
      drawn.geometry = new BufferGeometry();
      drawn.geometry.setAttribute("position", new BufferAttribute(points, 3));
    }
  }

  /** Colours by region, and which of them is chosen. */
  paintLabels(chosen: number | null): void {
    const { label } = this;
    const tint = this.result.tint.array as Uint8Array;
    this.result.mesh.material.uniforms["marking"]!.value = chosen === null || label === null ? 0 : 1;
    if (label === null) return;
    const colours = new Map<number, [number, number, number]>();
    for (let v = 0; v < label.length; v++) {
      const region = label[v]!;
      let colour = colours.get(region);
      if (colour === undefined) colours.set(region, (colour = regionColour(region)));
      tint[4 * v] = colour[0];
      tint[4 * v + 1] = colour[1];
      tint[4 * v + 2] = colour[2];
      tint[4 * v + 3] = region === chosen ? 255 : 0;
    }
    this.result.tint.needsUpdate = true;
  }

  /** Some vertices have other labels now. */
  relabel(vertices: Iterable<number>): void {
    const tint = this.result.tint.array as Uint8Array;
    for (const v of vertices) {
      const label = this.label?.[v] ?? -1;
      tint.set(label < 0 ? PLAIN : regionColour(label), 4 * v);
    }
    this.result.tint.needsUpdate = true;
  }

  /** Colours some vertices, and none of the others. */
  single(vertices: Iterable<number>, colour: readonly [number, number, number]): void {
    const tint = this.result.tint.array as Uint8Array;
    for (let v = 0; v < this.take.vertices; v++) tint.set(PLAIN, 4 * v);
    for (const v of vertices) tint.set(colour, 4 * v);
    this.result.tint.needsUpdate = true;
  }

  setWire(on: boolean): void {
    this.wire = on;
  }

  /** What the next view of this scene holds; pixel: how many of the canvas's a point of the screen has. */
  compose(part: Part, upward: Vector3, eye: Vector3, ground: Color, pixel: number): void {
    const { result, guide, obstacles, wire } = this;
    result.mesh.visible = part !== "guide";
    const veil = part === "over";
    if (guide !== null) {
      guide.mesh.visible = part === "guide" || veil;
      guide.mesh.material.uniforms["opacity"]!.value = veil ? 0.2 : 1;
      guide.mesh.material.transparent = veil;
      guide.mesh.material.depthWrite = !veil;
      guide.mesh.renderOrder = veil ? 4 : 0;
      const edged = guide.mesh.visible && (veil || wire || guide.faces.length / 3 < COARSE);
      if (edged || guide.hasEdges) guide.showEdges(edged, veil);
    }
    if (wire || result.hasEdges) result.showEdges(wire && result.mesh.visible);
    if (obstacles !== null) obstacles.mesh.visible = true;
    this.segments.visible = this.dots.visible = this.hasSegments && part !== "guide";
    this.dots.material.uniforms["size"]!.value = 6.5 * pixel;
    for (const surface of [result, guide, obstacles]) {
      if (surface !== null) (surface.mesh.material.uniforms["upward"]!.value as Vector3).copy(upward);
    }
    this.composeFloor(part === "guide" ? "guide" : "result", eye, ground);
  }

  private composeFloor(part: "result" | "guide", eye: Vector3, ground: Color): void {
    if (this.floor === null || this.shades === null) return;
    const { uniforms } = this.floor.material;
    (uniforms["eye"]!.value as Vector3).copy(eye);
    (uniforms["ground"]!.value as Color).copy(ground);
    const surface = part === "guide" && this.guide !== null ? this.guide : this.result;
    const shade = this.shades[part];
    uniforms["shade"]!.value = shade.texture;
    if (surface.shown === null || this.shaded[part] === surface.shown) return;
    this.shaded[part] = surface.shown;
    shade.clear();
    for (const each of [surface, this.obstacles]) {
      const points = each?.shown;
      if (each === null || !points) continue;
      const step = points.low!.map((low, c) => (points.high![c]! - low) / 65535);
      shade.add(points.data, points.low!, step, each.faces);
    }
    shade.finish();
  }

  /** Centre and radius of a region in the frame shown; of the result whole where `region` is null. */
  ball(region: number | null): { centre: [number, number, number]; radius: number } | null {
    const points = this.result.shown;
    if (points === null) return null;
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    const x = numbers(points);
    for (let v = 0; v < this.take.vertices; v++) {
      if (region !== null && this.label?.[v] !== region) continue;
      for (let c = 0; c < 3; c++) {
        low[c] = Math.min(low[c]!, x[3 * v + c]!);
        high[c] = Math.max(high[c]!, x[3 * v + c]!);
      }
    }
    if (!Number.isFinite(low[0]!)) return null;
    const centre = low.map((value, c) => 0.5 * (value + high[c]!)) as [number, number, number];
    return { centre, radius: 0.5 * Math.hypot(high[0]! - low[0]!, high[1]! - low[1]!, high[2]! - low[2]!) };
  }
}

function largest(values: Uint32Array): number {
  let most = 0;
  for (const value of values) most = Math.max(most, value);
  return most;
}
