/** Frames of one take that are here, and those fetched ahead; newest wish wins, memory is bounded. */

import * as api from "./api";
import { unpack, type PackedEntry } from "./parcels";
import type { Take } from "./messages";

/** so many bytes a request: long enough to be worth one, short enough to be left for another */
const CHUNK_BYTES = 3e6;
const MOST_FRAMES = 32;

interface Chunk {
  readonly bytes: number;
  readonly places: readonly number[];
  readonly overlay: string | null;
}

interface Held {
  readonly entry: PackedEntry;
  readonly chunk: Chunk;
}

/** What the playhead is at, and which places it will come to. */
export interface Wish {
  readonly place: number;
  readonly first: number;
  readonly last: number;
  readonly loop: boolean;
}

export class Frames {
  private readonly held = new Map<number, Held>();
  private bytes = 0;
  private wish: Wish = { place: 0, first: 0, last: 0, loop: true };
  private overlay: string | null = null;
  private flight: { from: number; to: number; abort: AbortController } | null = null;
  private pausedUntil = 0;
  private made: number;

  constructor(
    private readonly take: Take,
    private readonly budget: number,
    private readonly arrived: () => void,
    private readonly failed: (error: unknown) => void,
    private readonly ask: (wanted: api.FramesWanted, signal: AbortSignal) => Promise<ArrayBuffer> = api.frames,
  ) {
    this.made = take.ready;
  }

  /** How many frames of the take are made. Fewer than before: a run began anew, what is here is another's. */
  get ready(): number {
    return this.made;
  }

  set ready(count: number) {
    if (count < this.made) {
      this.flight?.abort.abort();
      this.flight = null;
      this.held.clear();
      this.bytes = 0;
    }
    this.made = count;
  }

  get count(): number {
    return this.held.size;
  }

  get heldBytes(): number {
    return this.bytes;
  }

  has(place: number): boolean {
    return this.held.has(place);
  }

  get(place: number): PackedEntry | null {
    return this.held.get(place)?.entry ?? null;
  }

  /** Whether the frame is here with the overlay that is shown. */
  complete(place: number): boolean {
    const found = this.held.get(place);
    return found !== undefined && (this.overlay === null || found.chunk.overlay === this.overlay);
  }

  /** An overlay's name to be sent with the frames, or null. */
  show(overlay: string | null): void {
    if (overlay === this.overlay) return;
    this.overlay = overlay;
    this.flight?.abort.abort();
    this.flight = null;
    this.fetchNext();
  }

  want(wish: Wish): void {
    this.wish = wish;
    const flight = this.flight;
    const place = Math.min(wish.place, this.ready - 1);
    if (flight !== null && place >= 0 && !this.complete(place) && (place < flight.from || place >= flight.to)) {
      flight.abort.abort();
      this.flight = null;
    }
    this.fetchNext();
  }

  /** After the server was away: try again. */
  retry(): void {
    this.pausedUntil = 0;
    this.fetchNext();
  }

  /** Every frame is another from now on. With one of them nothing more is fetched until `retry`: the next are on their way. */
  restart(place = -1, entry: PackedEntry | null = null, bytes = 0): void {
    this.flight?.abort.abort();
    this.flight = null;
    this.held.clear();
    this.bytes = 0;
    if (entry === null) return;
    this.held.set(place, { entry, chunk: { bytes, places: [place], overlay: this.overlay } });
    this.bytes = bytes;
    this.pausedUntil = Infinity;
  }

  private get bytesPerFrame(): number {
    const { vertices, guide_vertices } = this.take;
    return this.held.size > 0 ? this.bytes / this.held.size : 6 * (vertices + guide_vertices) + 1000;
  }

  /** Places in the order in which they will be shown, as many as memory holds. */
  private *ahead(): Generator<number> {
    const { place, first, last, loop } = this.wish;
    const end = Math.min(last, this.ready - 1);
    const room = Math.max(Math.floor(this.budget / this.bytesPerFrame) - MOST_FRAMES, 2);
    let given = 0;
    for (let p = Math.min(place, this.ready - 1); p <= end && given < room; p++, given++) yield p;
    if (!loop && this.wish.place > first) return;
    for (let p = first; p < Math.min(place, end + 1) && given < room; p++, given++) yield p;
  }

  private fetchNext(): void {
    if (this.flight !== null || performance.now() < this.pausedUntil) return;
    let from = -1;
    for (const place of this.ahead()) {
      if (place >= 0 && !this.complete(place)) {
        from = place;
        break;
      }
    }
    if (from < 0) return;
    // The frame under the playhead alone comes first: that is what someone waits for.
    const most = from === this.wish.place ? 1 : Math.min(Math.max(Math.floor(CHUNK_BYTES / this.bytesPerFrame), 1), MOST_FRAMES);
    let to = from + 1;
    while (to < this.ready && to - from < most && !this.complete(to)) to++;
    void this.fetch(from, to);
  }

  private async fetch(from: number, to: number): Promise<void> {
    const abort = new AbortController();
    const flight = { from, to, abort };
    this.flight = flight;
    const overlay = this.overlay;
    const parts = [this.take.guide_faces > 0 ? "guide" : "", this.take.obstacle_faces > 0 ? "obstacles" : ""].filter(Boolean);
    try {
      const bytes = await this.ask({ take: this.take.number, from, count: to - from, overlay, parts }, abort.signal);
      if (this.flight !== flight) return;
      this.keep(unpack(bytes), bytes.byteLength, overlay);
      this.flight = null;
      this.arrived();
    } catch (error) {
      if (this.flight !== flight) return;
      this.flight = null;
      if (api.isAbort(error)) return;
      this.pausedUntil = performance.now() + 2000;
      this.failed(error);
    }
    this.fetchNext();
  }

  private keep(entries: readonly PackedEntry[], bytes: number, overlay: string | null): void {
    const places = entries.flatMap((entry) => (entry.frame === null ? [] : [entry.frame]));
    // A server that sends nothing would be asked for the same at once, for ever.
    if (places.length === 0) this.pausedUntil = performance.now() + 500;
    const share = bytes / Math.max(places.length, 1);
    const chunk: Chunk = { bytes: share, places, overlay };
    for (const entry of entries) {
      if (entry.frame === null) continue;
      this.drop(entry.frame);
      this.held.set(entry.frame, { entry, chunk });
      this.bytes += share;
    }
    this.makeRoom();
  }

  private drop(place: number): void {
    const found = this.held.get(place);
    if (found === undefined) return;
    this.held.delete(place);
    this.bytes -= found.chunk.bytes;
  }

  /** Lets go of what will be shown last: whole chunks, for their bytes are one block. */
  private makeRoom(): void {
    if (this.bytes <= this.budget) return;
    const { place, first, last } = this.wish;
    const length = Math.max(last - first + 1, 1);
    const until = (p: number): number => (p >= place ? p - place : p - place + Math.max(length, place + 1));
    const order = [...this.held.keys()].sort((a, b) => until(b) - until(a));
    for (const far of order) {
      if (this.bytes <= this.budget) return;
      if (far === place) continue;
      for (const other of this.held.get(far)?.chunk.places ?? []) if (other !== place) this.drop(other);
    }
  }
}
