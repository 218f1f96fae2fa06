/** What of a take is under the pointer. */

import { Raycaster, Vector2 } from "three";
import type { Actor } from "./actor";
import type { OrbitCamera } from "./camera";
import type { View } from "./views";

export interface Hit {
  readonly take: number;
  readonly vertex: number;
  readonly region: number | null;
  readonly value: number | null;
}

/** The view at a place of the canvas, in shares of it. */
export function viewAt(views: readonly View[], x: number, y: number): View | null {
  for (const view of views) {
    const across = (x - view.x) / view.width;
    const down = (y - view.y) / view.height;
    if (across >= view.clip[0] && across <= view.clip[1] && down >= 0 && down <= 1) return view;
  }
  return null;
}

/** Where a line first meets a surface. */
export interface Meeting {
  /** its first corner's place in the list of faces */
  readonly face: number;
  /** of its corners the nearest */
  readonly vertex: number;
  /** [m] */
  readonly place: readonly [number, number, number];
}

/** Where a ray through a place of the canvas meets the result. */
export function meet(view: View, actor: Actor, orbit: OrbitCamera, aspect: number, x: number, y: number): Meeting | null {
  const points = actor.result.shown;
  if (points === null || view.part === "guide") return null;
  orbit.setAspect((aspect * view.width) / view.height);
  const ray = new Raycaster();
  ray.setFromCamera(new Vector2((2 * (x - view.x)) / view.width - 1, 1 - (2 * (y - view.y)) / view.height), orbit.camera);
  const { origin, direction } = ray.ray;
  // In shares space lies flat as it came: one line is transformed instead of every point.
  const step = points.low!.map((low, c) => Math.max((points.high![c]! - low) / 65535, 1e-30));
  const from = [origin.x, origin.y, origin.z].map((value, c) => (value - points.low![c]!) / step[c]!);
  const along = [direction.x, direction.y, direction.z].map((value, c) => value / step[c]!);
  const found = nearestHit(points.data, actor.result.faces, from, along);
  if (found === null) return null;
  const place = from.map((value, c) => points.low![c]! + step[c]! * (value + found.far * along[c]!));
  return { ...found, place: place as [number, number, number] };
}

/** The result's vertex nearest to there, and what it says. */
export function pick(view: View, actor: Actor, orbit: OrbitCamera, aspect: number, x: number, y: number): Hit | null {
  const found = meet(view, actor, orbit, aspect, x, y);
  if (found === null) return null;
  const { vertex } = found;
  const region = actor.label?.[vertex] ?? -1;
  return {
    take: view.take,
    vertex,
    region: region >= 0 ? region : null,
    value: actor.hasValues ? actor.result.values[vertex]! : null,
  };
}

/** The corner nearest to where the line first meets a triangle (Möller and Trumbore's test). */
function nearestHit(
  x: ArrayLike<number>, faces: Uint32Array, from: readonly number[], along: readonly number[],
): { face: number; vertex: number; far: number } | null {
  const [ox, oy, oz] = from as [number, number, number], [dx, dy, dz] = along as [number, number, number];
  let nearest = Infinity;
  let face = -1, vertex = -1;
  for (let f = 0; f < faces.length; f += 3) {
    const a = 3 * faces[f]!, b = 3 * faces[f + 1]!, c = 3 * faces[f + 2]!;
    const px = x[b]! - x[a]!, py = x[b + 1]! - x[a + 1]!, pz = x[b + 2]! - x[a + 2]!;
    const qx = x[c]! - x[a]!, qy = x[c + 1]! - x[a + 1]!, qz = x[c + 2]! - x[a + 2]!;
    const hx = dy * qz - dz * qy, hy = dz * qx - dx * qz, hz = dx * qy - dy * qx;
    const det = px * hx + py * hy + pz * hz;
    if (det === 0) continue;
    const sx = ox - x[a]!, sy = oy - x[a + 1]!, sz = oz - x[a + 2]!;
    const u = (sx * hx + sy * hy + sz * hz) / det;
    if (u < 0 || u > 1) continue;
    const gx = sy * pz - sz * py, gy = sz * px - sx * pz, gz = sx * py - sy * px;
    const v = (dx * gx + dy * gy + dz * gz) / det;
    if (v < 0 || u + v > 1) continue;
    const t = (qx * gx + qy * gy + qz * gz) / det;
    if (t <= 0 || t >= nearest) continue;
    nearest = t;
    const w = 1 - u - v;
    face = f;
    vertex = (w >= u && w >= v ? a : u >= v ? b : c) / 3;
  }
  return face < 0 ? null : { face, vertex, far: nearest };
}
