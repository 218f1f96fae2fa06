/** What is shown, as the part of the address after `#`: camera, frame, view, overlay, takes, ends of the scale. */

import type { Pose } from "./camera";
import type { Session } from "./session";
import type { Look, Mode } from "./store";

const MODE_NAMES: readonly Mode[] = ["side", "over", "result", "grid", "wipe"];
const brief = (value: number): string => String(Number(value.toPrecision(6)));

export function hashOf(session: Session): string {
  const { look, player } = session;
  const { turn, rise, reach, target } = session.orbit.at;
  const parts: Record<string, string> = {
    m: look.mode,
    a: String(look.active),
    c: [turn, rise, reach, ...target].map(brief).join(","),
  };
  // Who follows a run is at its newest frame, whichever that is.
  if (!look.follow || session.active?.state !== "running") parts["f"] = String(session.frameNumber);
  if (session.takes.length > 1) {
    parts["s"] = look.shown.join(",");
    parts["b"] = String(look.other);
    if (look.mode === "wipe") parts["w"] = brief(look.split);
  }
  if (look.overlay !== null) {
    parts["o"] = look.overlay;
    const ends = look.ends[look.overlay];
    if (ends !== undefined) parts["e"] = ends.map(brief).join(",");
  }
  if (look.wire) parts["x"] = "1";
  if (look.region !== null) parts["g"] = `${look.region},${look.regionTake ?? look.active}`;
  if (look.curves !== null) parts["q"] = look.curves.join(",");
  const { first, last } = player.range;
  if (first > 0 || last < player.count - 1) parts["r"] = `${session.shot.numbers[first]},${session.shot.numbers[last]}`;
  return "#" + Object.entries(parts).map(([key, value]) => `${key}=${encodeURIComponent(value).replaceAll("%2C", ",")}`).join("&");
}

const numbersOf = (text: string | null): number[] => (text === null || text === "" ? [] : text.split(",").map(Number));

/** Does what an address says, as far as it fits what is open. */
export function restore(session: Session, hash: string): boolean {
  const said = new URLSearchParams(hash.replace(/^#/, ""));
  if ([...said.keys()].length === 0) return false;
  const { takes, look, shot, player } = session;
  const open = (number: number): boolean => Number.isInteger(number) && takes[number] !== undefined;
  const change: { -readonly [K in keyof Look]?: Look[K] } = {};
  const mode = said.get("m") as Mode | null;
  if (mode !== null && MODE_NAMES.includes(mode) && (takes.length > 1 || (mode !== "grid" && mode !== "wipe"))) change.mode = mode;
  if (open(Number(said.get("a") ?? NaN))) change.active = Number(said.get("a"));
  if (open(Number(said.get("b") ?? NaN))) change.other = Number(said.get("b"));
  const shown = numbersOf(said.get("s")).filter(open);
  if (shown.length > 0) change.shown = shown;
  const [split] = numbersOf(said.get("w"));
  if (split !== undefined && split >= 0 && split <= 1) change.split = split;
  const overlay = said.get("o");
  change.overlay = takes.some((take) => take.overlays.some(({ name }) => name === overlay)) ? overlay : null;
  const [low, high] = numbersOf(said.get("e"));
  const { [change.overlay ?? ""]: _, ...otherEnds } = look.ends;
  const isScale = change.overlay && low !== undefined && high !== undefined && high > low;
  change.ends = isScale ? { ...otherEnds, [change.overlay!]: [low, high] } : otherEnds;
  change.wire = said.get("x") === "1";
  const [region = NaN, regionTake = change.active ?? look.active] = numbersOf(said.get("g"));
  const isRegion = takes[regionTake]?.regions[region] !== undefined;
  [change.region, change.regionTake] = isRegion ? [region, regionTake] : [null, null];
  change.curves = said.get("q")?.split(",").filter(Boolean) ?? null;
  if (Number.isFinite(Number(said.get("f") ?? NaN))) change.follow = false;
  session.store.set(change);
  const [first, last] = numbersOf(said.get("r"));
  if (first !== undefined && last !== undefined && last >= first) player.setRange(shot.at(first), shot.at(last));
  else player.setRange(0, player.count - 1);
  const frame = Number(said.get("f") ?? NaN);
  if (Number.isFinite(frame)) player.seek(shot.at(frame));
  const pose = poseOf(numbersOf(said.get("c")));
  if (pose !== null) session.orbit.set(pose);
  return pose !== null;
}

function poseOf(values: readonly number[]): Pose | null {
  if (values.length !== 6 || !values.every(Number.isFinite) || values[2]! <= 0) return null;
  const [turn, rise, reach, x, y, z] = values as [number, number, number, number, number, number];
  return { turn, rise, reach, target: [x, y, z] };
}

/** Keeps the address in step, so that a reload shows the same. */
export function keepAddress(session: Session): void {
  let before = location.hash;
  window.setInterval(() => {
    if (session.takes.length === 0 || session.player.playing) return;
    const hash = hashOf(session);
    if (hash === before) return;
    before = hash;
    history.replaceState(null, "", hash);
  }, 400);
  window.addEventListener("hashchange", () => {
    before = location.hash;
    restore(session, location.hash);
  });
}

export async function copyLink(session: Session, say: (text: string) => void): Promise<void> {
  const address = location.origin + location.pathname + location.search + hashOf(session);
  history.replaceState(null, "", address);
  try {
    await navigator.clipboard.writeText(address);
    say("Link copied. It works as long as this server runs.");
  } catch {
    say("The link is in the address bar; this browser lets no page copy it.");
  }
}
