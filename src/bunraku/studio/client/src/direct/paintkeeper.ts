/** Writes what is painted: one message at a time, and of those that wait only the newest. Nothing is written over that
 * another window has painted meanwhile. */

import * as api from "../api";
import type { Sketch } from "./sketch";

export class PaintKeeper {
  /** what is to be said of it */
  state = "";
  refused = false;
  /** [ms] the last writing took */
  lastWrite = 0;
  private waiting: { about: string; obeyed: boolean | null } | null = null;
  private busy = false;

  constructor(
    private readonly sketch: Sketch,
    private readonly changed: () => void,
  ) {}

  async save(about: string, obeyed: boolean | null = null): Promise<void> {
    this.waiting = { about, obeyed: obeyed ?? this.waiting?.obeyed ?? null };
    this.state = "being written …";
    if (this.busy) return;
    this.busy = true;
    while (this.waiting !== null) {
      const one: { about: string; obeyed: boolean | null } = this.waiting;
      this.waiting = null;
      await this.write(one.about, one.obeyed);
    }
    this.busy = false;
    this.changed();
  }

  private async write(about: string, obeyed: boolean | null): Promise<void> {
    const { sketch } = this;
    const meant = sketch.painting;
    await sketch.settled();
    const { painting, sheet } = sketch;
    if (painting === null || sheet === null) return;
    if (painting !== meant) {
      this.refused = true;
      this.state = "not written: the regions were changed elsewhere, and are shown anew";
      return;
    }
    const { names, runs } = painting.toWrite;
    const there = painting.names.map((name, k) => ((painting.count[k] ?? 0) > 0 ? name : null));
    const { renamed } = painting;
    const begun = performance.now();
    sketch.holding = true;
    const { revision } = sheet; // what was painted on, which the shot may have left behind
    const edited = await sketch.desk.change(() =>
      api.paint({ revision, object: sheet.object, names, runs, renamed, obeyed, about, tab: sketch.desk.tab }));
    this.refused = edited === null;
    if (edited === null) {
      sketch.release();
      this.state = "not written: take it back, or change it";
      return;
    }
    this.lastWrite = performance.now() - begun;
    painting.wasWritten(there);
    this.state = "written";
    try {
      const now = await api.sketch(sheet.object);
      if (now.revision === edited.sheet.revision) sketch.wrote(now);
    } catch (error) {
      sketch.session.failed(error);
    }
    sketch.release();
  }
}
