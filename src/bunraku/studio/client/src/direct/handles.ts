/** What can be taken hold of on the stage: regions of keys, knots of paths; and how the file's lists read once they were moved. */

import type { SketchSheet } from "../messages";

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type Table = { [name: string]: Json };
export type Three = [number, number, number];

/** One key's region, one knot of a path. */
export interface Handle {
  /** the list it is in: a key of the object's table */
  readonly list: "keys" | "phases" | "path";
  /** where in that list */
  readonly where: readonly (string | number)[];
  /** frame of the shot */
  readonly frame: number;
  /** frame from which the file counts it */
  readonly since: number;
  readonly region: string | null;
  /** what a gizmo may do with it; "": nothing */
  readonly kind: "region" | "point" | "";
  readonly title: string;
  /** what it turns about [m in the world], where that is not its region's middle */
  readonly pivot?: Three;
}

export interface Pose {
  readonly move: Three;
  /** axis times angle [°] */
  readonly rotate: Three;
  readonly scale: number | Three;
}

/** decimals of metres, of degrees, of factors, of frames that are written */
const METRES = 4, DEGREES = 2, FACTORS = 4, FRAMES = 4;
const SAME_FRAME = 1e-6;

const round = (value: number, digits: number): number => Number(value.toFixed(digits)) + 0;
const rounded = (values: readonly number[], digits: number): Three => values.map((value) => round(value, digits)) as Three;
const isTable = (value: Json | undefined): value is Table => typeof value === "object" && value !== null && !Array.isArray(value);
const three = (value: Json | undefined, otherwise: Three): Three =>
  Array.isArray(value) && value.length === 3 ? (value.map(Number) as Three) : otherwise;

/** All handles of a sheet, in order of time. */
export function handlesOf(sheet: SketchSheet): Handle[] {
  const keys = Array.isArray(sheet.keys) ? (sheet.keys as Json[]) : [];
  const found: Handle[] = [];
  if (sheet.kind === "keys") keys.forEach((key, k) => found.push(...ofKey(key, "keys", [k], 0)));
  if (sheet.kind === "shapes") keys.forEach((key, k) => found.push(...ofShape(key, k)));
  if (sheet.kind === "phases") keys.forEach((phase, p) => {
    const own = isTable(phase) && Array.isArray(phase["keys"]) ? phase["keys"] : [];
    own.forEach((key, k) => found.push(...ofKey(key, "phases", [p, "keys", k], sheet.begins[p] ?? 0)));
  });
  const paths = Array.isArray(sheet.paths) ? (sheet.paths as Json[]) : [];
  paths.forEach((path, p) => found.push(...ofPath(path, p)));
  return found.sort((a, b) => a.frame - b.frame);
}

function ofKey(key: Json, list: "keys" | "phases", where: readonly (string | number)[], since: number): Handle[] {
  if (!isTable(key)) return [];
  const region = typeof key["region"] === "string" ? key["region"] : null;
  const placed = ["move", "rotate", "scale"].some((name) => name in key) || !("velocity" in key);
  const kind = "file" in key ? "" : region !== null && placed ? "region" : "centre" in key ? "point" : "";
  const title = `${region ?? ("centre" in key ? "centre of mass" : "file" in key ? "file" : "centre of mass")}${kind === "" && "velocity" in key ? ", velocity" : ""}`;
  const own = "pivot" in key ? { pivot: three(key["pivot"], [0, 0, 0]) } : {};
  return [{ list, where, frame: since + Number(key["frame"]), since, region, kind, title, ...own }];
}

function ofShape(key: Json, k: number): Handle[] {
  if (!isTable(key)) return [];
  const frame = Number(key["frame"]);
  const grips = Array.isArray(key["grips"]) ? key["grips"].filter(isTable) : [];
  if (grips.length === 0) return [{ list: "keys", where: [k], frame, since: 0, region: null, kind: "", title: "file" in key ? "file" : "take" in key ? "take" : "own shape" }];
  return grips.map((grip, g) => ({
    list: "keys", where: [k, "grips", g], frame, since: 0, region: String(grip["region"]), kind: "region", title: String(grip["region"]),
  }));
}

function ofPath(path: Json, p: number): Handle[] {
  if (!isTable(path) || !Array.isArray(path["points"])) return [];
  const of = typeof path["region"] === "string" ? path["region"] : "whole body";
  return path["points"].flatMap((row, r) => (Array.isArray(row)
    ? [{ list: "path" as const, where: [p, "points", r], frame: Number(row[0]), since: 0, region: null, kind: "point" as const, title: `path of ${of}` }]
    : []));
}

/** The list a handle is in, as the sheet has it. */
export const listOf = (sheet: SketchSheet, { list }: Handle): Json[] =>
  structuredClone((list === "path" ? sheet.paths : sheet.keys) as Json[]);

/** What stands where a handle is. */
export const at = (list: Json[], where: readonly (string | number)[]): Json =>
  where.reduce<Json>((found, step) => (found as Table)[step as string]!, list);

/** The pose a handle says. */
export function poseOf(list: Json[], handle: Handle): Pose {
  const told = at(list, handle.where);
  const none: Three = [0, 0, 0];
  if (Array.isArray(told)) return { move: told.slice(1, 4).map(Number) as Three, rotate: none, scale: 1 };
  const key = told as Table;
  if (handle.kind === "point") return { move: three(key["centre"], none), rotate: none, scale: 1 };
  const scale = key["scale"];
  return { move: three(key["move"], none), rotate: three(key["rotate"], none), scale: typeof scale === "number" ? scale : three(scale, [1, 1, 1]) };
}

/** Moves a handle, in its list. */
export function pose(list: Json[], handle: Handle, { move, rotate, scale }: Pose): void {
  const told = at(list, handle.where);
  if (Array.isArray(told)) {
    told.splice(1, 3, ...rounded(move, METRES));
    return;
  }
  const key = told as Table;
  if (handle.kind === "point") {
    key["centre"] = rounded(move, METRES);
    return;
  }
  key["move"] = rounded(move, METRES);
  say(key, "rotate", rounded(rotate, DEGREES), (value) => (value as Three).every((angle) => angle === 0));
  const even = typeof scale === "number" || new Set(rounded(scale, FACTORS)).size === 1;
  say(key, "scale", even ? round(typeof scale === "number" ? scale : scale[0], FACTORS) : rounded(scale as Three, FACTORS), (value) => value === 1);
}

/** Says something, unless it is what holds anyway. */
function say(key: Table, name: string, value: Json, usual: (value: Json) => boolean): void {
  if (usual(value)) delete key[name];
  else key[name] = value;
}

/** Moves the key of a handle in time, to a frame of the shot. */
export function retime(list: Json[], handle: Handle, frame: number): void {
  const told = at(list, ofTime(handle));
  if (Array.isArray(told)) told[0] = frame;
  else (told as Table)["frame"] = round(frame - handle.since, FRAMES);
  if (handle.list === "path") sorted(at(list, handle.where.slice(0, -1)) as Json[], (row) => Number((row as Json[])[0]));
  else if (handle.where.length > 0 && handle.where[1] === "grips") sorted(list, (key) => Number((key as Table)["frame"]));
}

/** Where what has a frame stands: a grip has its key's. */
const ofTime = ({ where }: Handle): readonly (string | number)[] => (where[1] === "grips" ? where.slice(0, 1) : where);

const sorted = (list: Json[], frame: (one: Json) => number): Json[] => list.sort((a, b) => frame(a) - frame(b));

/** Removes a handle from its list: a grip from its key, a knot from its path, and the key or path with its last. */
export function remove(list: Json[], handle: Handle): void {
  const { where } = handle;
  const around = at(list, where.slice(0, -1)) as Json[];
  around.splice(Number(where.at(-1)), 1);
  if ((where[1] === "grips" || where[1] === "points") && around.length === 0) list.splice(Number(where[0]), 1);
}

/** A key more for a region on a frame; of phases in the one that goes on then, or ends: one that begins says nothing yet. */
export function add(sheet: SketchSheet, region: string, frame: number): Json[] {
  const list = structuredClone(sheet.keys as Json[]);
  if (sheet.kind === "shapes") {
    const there = list.find((key) => isTable(key) && key["frame"] === frame && Array.isArray(key["grips"])) as Table | undefined;
    if (there !== undefined) (there["grips"] as Json[]).push({ region });
    else sorted(list, (key) => Number((key as Table)["frame"])), list.push({ frame, grips: [{ region }] }), sorted(list, (key) => Number((key as Table)["frame"]));
  } else if (sheet.kind === "phases") {
    const begun = Math.max(sheet.begins.filter((begin) => begin <= frame).length - 1, 0);
    const ends = begun > 0 && frame - sheet.begins[begun]! < SAME_FRAME && !("flight" in (list[begun - 1] as Table));
    const p = ends ? begun - 1 : begun, phase = list[p] as Table;
    phase["keys"] = [...((phase["keys"] ?? []) as Json[]), { frame: round(frame - (sheet.begins[p] ?? 0), FRAMES), region, move: [0, 0, 0] }];
  } else list.push({ frame, region, move: [0, 0, 0] });
  return list;
}

/** A turn about an axis [°] that is the nearest to another of all that look alike: whole turns are kept. */
export function nearestTurn(turn: Three, before: Three): Three {
  const angle = Math.hypot(...turn);
  if (angle < 1e-9) {
    const whole = 360 * Math.round(Math.hypot(...before) / 360), far = Math.hypot(...before);
    return far < 1e-9 ? turn : (before.map((value) => (value / far) * whole) as Three);
  }
  const axis = turn.map((value) => value / angle) as Three;
  const along = axis.reduce((sum, value, c) => sum + value * before[c]!, 0);
  const whole = 360 * Math.round((along - angle) / 360);
  return axis.map((value) => value * (angle + whole)) as Three;
}
