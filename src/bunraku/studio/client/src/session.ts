/** What is open and what is on the screen: takes, their frames, time, camera; draws when something changed. */

import { Actor } from "./actor";
import * as api from "./api";
import { OrbitCamera } from "./camera";
import { Frames } from "./frames";
import type { Tool } from "./gestures";
import type { Difference, News, Overlay, Report, Take } from "./messages";
import { unpack } from "./parcels";
import { distinct } from "./naming";
import { Pixels } from "./pixels";
import { Player } from "./player";
import { placeOf, ShotFrames } from "./shotframes";
import type { Look, Store } from "./store";
import { arrange, Painter, type View } from "./views";

/** [bytes] of frames held, all takes together */
const MEMORY = 400e6;

/** [ms] without change until a picture drawn without a graphics card is drawn again, finer */
const REST = 350;
/** share of the take's radius that stays in sight around a region: a few large faces say nothing of where they are */
const AROUND = 0.35;

export type Topic = "takes" | "report" | "frame" | "buffered" | "views" | "drawn";

/** The number of what is shown instead of takes. */
export const GUEST = -1;

/** An object that is painted or posed, before any take of it is made. */
export interface Guest {
  readonly take: Take;
  readonly actor: Actor;
  readonly frames: Frames;
  readonly overlay: Overlay | null;
}

/** Whether these are the takes that are on the screen, whatever came to them since; more may follow. */
function isSame(before: readonly Take[], now: readonly Take[]): boolean {
  const key = (take: Take): string => [take.folder, take.vertices, take.faces, take.guide_faces, take.obstacle_faces].join(" ");
  return before.map(key).join("\n") === now.slice(0, before.length).map(key).join("\n");
}

export class Session {
  takes: Take[] = [];
  differences: readonly Difference[] = [];
  version = "";
  /** the shot file that is edited; "" where takes are looked at only */
  directed = "";
  shot = new ShotFrames([]);
  readonly player: Player;
  readonly orbit = new OrbitCamera(() => this.invalidate());
  readonly painter: Painter;
  readonly actors = new Map<number, Actor>();
  readonly frames = new Map<number, Frames>();
  readonly reports = new Map<number, Report>();
  readonly news = new Map<number, News>();
  views: View[] = [];
  guest: Guest | null = null;
  /** what takes the pointer on the views instead of the camera */
  tool: Tool | null = null;
  /** [ms] from the page's start until the first frame was drawn; 0 before */
  firstFrame = 0;
  private readonly loading = new Set<number>();
  private readonly listeners: [Topic, () => void][] = [];
  private dirty = true;
  private lastTick = 0;
  private drawnPlace = -1;
  private toFrame = false;
  private readonly pixels: Pixels;
  private lastDrawn = 0;

  constructor(
    readonly store: Store,
    canvas: HTMLCanvasElement,
    /** tells of errors that nobody waits for */
    readonly failed: (error: unknown) => void,
  ) {
    this.painter = new Painter(canvas);
    this.player = new Player(0, 24, (place) => this.isThere(place), () => this.lastReady());
    this.player.onChange(() => this.timeMoved());
    this.pixels = new Pixels(this.painter, this.player);
    this.player.onPlay((playing) => {
      this.pixels.restart(performance.now());
      if (!playing) this.invalidate();
    });
    store.watch(["mode", "shown", "active", "other", "split"], () => this.rearrange());
    store.watch(["overlay", "ends"], () => this.overlayChanged());
    store.watch(["region", "regionTake"], () => {
      for (const [number, actor] of this.actors) actor.paintLabels(this.regionIn(number));
      this.invalidate();
    });
    store.watch(["follow"], () => this.toNewest());
    store.watch(["wire"], (look) => {
      for (const actor of this.actors.values()) actor.setWire(look.wire);
      this.invalidate();
    });
  }

  on(topic: Topic, act: () => void): void {
    this.listeners.push([topic, act]);
  }

  tell(topic: Topic): void {
    for (const [heard, act] of this.listeners) if (heard === topic) act();
  }

  invalidate(): void {
    this.dirty = true;
  }

  get isDirty(): boolean {
    return this.dirty;
  }

  /** Whether the picture is as fine as it gets. */
  get isFine(): boolean {
    return this.isComplete && !this.dirty && (this.pixels.fine || !this.painter.software);
  }

  get look(): Look {
    return this.store.look;
  }

  get active(): Take | undefined {
    return this.takes[this.look.active];
  }

  /** A take by its number, or the guest. */
  takeOf(number: number): Take | undefined {
    return number === GUEST ? this.guest?.take : this.takes[number];
  }

  /** Shows something instead of takes; null: takes again. */
  invite(guest: Guest | null): void {
    const frame = this.frameNumber;
    this.guest = guest;
    if (guest === null) {
      this.actors.delete(GUEST);
      this.frames.delete(GUEST);
    } else {
      this.actors.set(GUEST, guest.actor);
      this.frames.set(GUEST, guest.frames);
    }
    this.setTakes(this.takes);
    this.player.seek(this.shot.at(frame));
    this.tell("frame");
  }

  get frameNumber(): number {
    return this.shot.numbers[this.player.place] ?? 0;
  }

  /** Asks what is open, and shows it. */
  async open(): Promise<void> {
    const opened = await api.takes();
    if (this.takes.length > 0 && !isSame(this.takes, opened.takes)) {
      location.reload(); // another server at the same address: other takes
      return;
    }
    this.version = opened.version;
    this.directed = opened.directed;
    this.differences = opened.differences;
    this.setTakes([...opened.takes]);
    for (const take of this.takes) void this.loadReport(take.number);
  }

  setTakes(takes: Take[]): void {
    const frame = this.frameNumber;
    this.takes = distinct(takes);
    const all = this.guest === null ? this.takes : [...this.takes, this.guest.take];
    this.shot = new ShotFrames(all);
    this.player.reshape(this.shot.count, this.shot.rate);
    if (frame !== 0) this.player.seek(this.shot.at(frame));
    for (const take of takes) {
      const frames = this.frames.get(take.number);
      if (frames !== undefined) frames.ready = take.ready;
    }
    this.orbit.setSize(Math.max(...all.map((take) => take.radius), 1e-6));
    this.rearrange();
    this.tell("takes");
  }

  /** Takes in what a running take tells of itself. */
  update(number: number, news: News): void {
    this.news.set(number, news);
    const take = this.takes[number];
    if (take === undefined) return;
    this.takes[number] = { ...take, state: news.state, ready: news.ready };
    const frames = this.frames.get(number);
    if (frames !== undefined) frames.ready = news.ready;
    this.wish();
    this.tell("takes");
    if (this.look.active === number) this.toNewest();
  }

  /** Where a run is followed: to the last frame it has made. */
  private toNewest(): void {
    const take = this.active;
    if (!this.look.follow || take?.state !== "running" || this.player.playing) return;
    this.player.seek(this.shot.at(take.frames[take.ready - 1] ?? 0));
  }

  async loadReport(number: number): Promise<void> {
    try {
      this.reports.set(number, await api.report(number));
      this.tell("report");
    } catch (error) {
      this.failed(error);
    }
  }

  /** The canvas's size in points of the screen. */
  resize(width: number, height: number): void {
    this.pixels.resize(width, height);
    this.rearrange();
    this.tick(performance.now());
  }

  /** Views anew; takes that are shown for the first time are fetched. */
  rearrange(): void {
    const { canvas } = this.painter;
    const whole = { x: 0, y: 0, width: 1, height: 1, clip: [0, 1] as const };
    this.views = this.guest !== null
      ? [{ ...whole, take: GUEST, part: "result", title: this.guest.take.name }]
      : arrange(this.look, this.takes, canvas.width / Math.max(canvas.height, 1));
    for (const { take } of this.views) if (!this.actors.has(take)) void this.load(take);
    this.wish();
    this.overlayChanged();
    this.tell("views");
  }

  /** Takes that are on the screen. */
  get seen(): number[] {
    return [...new Set(this.views.map((view) => view.take))];
  }

  private async load(number: number): Promise<void> {
    const take = this.takes[number];
    if (take === undefined || this.loading.has(number)) return;
    this.loading.add(number);
    const frames = new Frames(take, MEMORY / this.takes.length, () => this.framesCame(), this.failed);
    this.frames.set(number, frames);
    this.overlayChanged();
    this.wish();
    try {
      const [entry] = unpack(await api.mesh(number));
      if (entry === undefined) throw new Error("The server sent an empty mesh.");
      const actor = new Actor(take, entry);
      actor.setWire(this.look.wire);
      this.actors.set(number, actor);
      for (const [each, one] of this.actors) one.paintLabels(this.regionIn(each));
      this.overlayChanged();
    } catch (error) {
      this.failed(error);
    } finally {
      this.loading.delete(number);
    }
    this.invalidate();
  }

  /** After the server was away. */
  retry(): void {
    for (const frames of this.frames.values()) frames.retry();
    this.rearrange();
  }

  private framesCame(): void {
    this.invalidate();
    this.tell("buffered");
  }

  overlayOf(take: Take | undefined): Overlay | null {
    return take?.overlays.find((overlay) => overlay.name === this.look.overlay) ?? null;
  }

  /** What the takes on the screen offer to be drawn on them, the active one's first; each once. */
  get overlays(): Overlay[] {
    const seen = this.seen.sort((a, b) => Number(b === this.look.active) - Number(a === this.look.active));
    const all = seen.flatMap((take) => this.takeOf(take)?.overlays ?? []);
    return all.filter((overlay, i) => all.findIndex(({ name }) => name === overlay.name) === i);
  }

  /** The overlay that is drawn on some take on the screen, whose colours need a legend. */
  get overlayShown(): Overlay | null {
    return this.overlays.find((overlay) => overlay.name === this.look.overlay) ?? null;
  }

  /** The number of the chosen region in a take: in another than it was chosen in only where both have the same regions. */
  private regionIn(number: number): number | null {
    const { region, regionTake } = this.look;
    if (region === null || number === regionTake) return region;
    const own = this.actors.get(number)?.label, its = this.actors.get(regionTake ?? -1)?.label;
    const same = own && its && own.length === its.length && own.every((label, v) => label === its[v]);
    return same ? region : null;
  }

  /** Ends of the scale: those someone set, else what suits every take on the screen. */
  ends(): readonly [number, number] {
    const name = this.look.overlay;
    const set = name === null ? undefined : this.look.ends[name];
    if (set !== undefined) return set;
    const found = this.seen.flatMap((take) => this.overlayOf(this.takes[take]) ?? []);
    if (found.length === 0) return [0, 1];
    const low = Math.min(...found.map((o) => o.low)), high = Math.max(...found.map((o) => o.high));
    // An end that only rounding keeps from nought is nought.
    return [Math.abs(low) < 1e-9 * Math.abs(high) ? 0 : low, high];
  }

  overlayChanged(): void {
    for (const [number, frames] of this.frames) {
      const overlay = number === GUEST ? (this.guest?.overlay ?? null) : this.overlayOf(this.takes[number]);
      frames.show(overlay === null || overlay.draws === "labels" ? null : overlay.name);
      this.actors.get(number)?.setOverlay(overlay, this.ends());
    }
    this.invalidate();
  }

  placeIn(take: Take): number {
    return Math.min(placeOf(take, this.frameNumber), take.ready - 1);
  }

  private placeAt(take: Take, place: number): number {
    return Math.min(placeOf(take, this.shot.numbers[place] ?? 0), take.ready - 1);
  }

  isThere(place: number): boolean {
    return this.seen.every((number) => {
      const take = this.takeOf(number);
      const frames = this.frames.get(number);
      return take !== undefined && frames !== undefined && frames.complete(this.placeAt(take, place));
    });
  }

  /** Whether all that the frame shown needs is here. */
  get isComplete(): boolean {
    return this.seen.length > 0 && this.isThere(this.player.place) && this.seen.every((take) => this.actors.has(take));
  }

  /** The last place of the time line that some take on the screen has made. */
  lastReady(): number {
    const ends = this.seen.flatMap((number) => {
      const take = this.takeOf(number);
      return take === undefined || take.ready === 0 ? [] : [this.shot.at(take.frames[take.ready - 1]!)];
    });
    return Math.max(...ends, 0);
  }

  private timeMoved(): void {
    this.wish();
    this.invalidate();
    this.tell("frame");
  }

  /** Tells the frames' keepers where the playhead is. */
  wish(): void {
    const { range, loop, place } = this.player;
    for (const number of this.seen) {
      const take = this.takeOf(number);
      if (take === undefined || take.ready === 0) continue;
      this.frames.get(number)?.want({
        place: this.placeAt(take, place),
        first: this.placeAt(take, range.first),
        last: this.placeAt(take, range.last),
        loop,
      });
    }
  }

  /** Puts the frame into the scenes; whether something is there to be drawn. */
  pose(): boolean {
    let some = false;
    for (const number of this.seen) {
      const take = this.takeOf(number);
      const entry = take === undefined ? null : (this.frames.get(number)?.get(this.placeIn(take)) ?? null);
      const actor = this.actors.get(number);
      if (entry === null || actor === undefined) continue;
      actor.show(entry);
      some = true;
    }
    return some;
  }

  /** Frames the chosen region, else all there is. */
  frameChosen(now = false): void {
    const { region, regionTake } = this.look;
    const there = region !== null && this.seen.includes(regionTake ?? -1);
    const ball = there ? (this.actors.get(regionTake ?? -1)?.ball(region) ?? null) : null;
    if (ball === null) this.frameAll(now);
    else this.orbit.frame(ball.centre, Math.max(1.4 * ball.radius, AROUND * (this.active?.radius ?? 0)), now);
  }

  frameAll(now = false): void {
    const take = this.guest?.take ?? this.active;
    if (take !== undefined) this.orbit.frame(take.centre, take.radius, now);
  }

  /** As `frameChosen`, once the frame gone to is here. */
  frameRegionWhenHere(): void {
    this.toFrame = true;
    this.invalidate();
  }

  /** Once a picture of the screen. */
  tick(now: number): void {
    const seconds = Math.min((now - this.lastTick) / 1000, 0.1);
    this.lastTick = now;
    this.player.tick(now);
    this.orbit.tick(seconds);
    this.pixels.keepUp(now, this.shot.rate);
    const rested = this.painter.software && !this.pixels.fine && !this.player.playing && this.isComplete && now - this.lastDrawn > REST;
    if (!this.dirty && !rested) return;
    if (this.pixels.fine || rested) this.pixels.set(rested && !this.dirty);
    this.dirty = false;
    this.lastDrawn = now;
    const some = this.pose();
    if (this.toFrame && this.isComplete) {
      this.toFrame = false;
      this.frameChosen();
    }
    this.painter.draw(this.views, this.actors, this.orbit);
    if (some && this.firstFrame === 0) this.firstFrame = performance.now();
    if (this.player.playing && this.player.place !== this.drawnPlace) this.player.wasDrawn(performance.now());
    this.drawnPlace = this.player.place;
    this.tell("drawn");
  }
}
