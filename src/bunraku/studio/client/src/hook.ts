/** `window.bunraku`: what tests wait for. */

import type { Directing } from "./direct/index";
import type { Sketched, Trial } from "./direct/sketch";
import type { Notice } from "./notice";
import type { Session } from "./session";

export interface Hook {
  /** everything the frame shown needs is here and drawn */
  readonly ready: boolean;
  /** and as fine as it gets: without a graphics card that comes a moment later */
  readonly fine: boolean;
  /** the reports of all takes are here, and with them the curves under the time line */
  readonly reported: boolean;
  readonly frame: number;
  readonly fps: number;
  readonly playing: boolean;
  /** frames of the active take that are in memory, and their bytes */
  readonly buffered: number;
  readonly bufferedBytes: number;
  /** [ms] from the page's start to the first frame drawn */
  readonly firstFrame: number;
  readonly pictures: number;
  readonly error: string;
  /** what was shown for a moment since the page was opened: it may be gone again before somebody looks */
  readonly said: readonly string[];
  readonly connection: string;
  readonly look: Session["look"];
  readonly camera: Session["orbit"]["at"];
  readonly takes: readonly { readonly state: string; readonly ready: number }[];
  /** of the shot that is directed; 0 where none is */
  readonly revision: number;
  readonly running: boolean;
  /** whether an edit is on its way */
  readonly sending: boolean;
  /** [ms] from the last edit's being sent until its answer was shown */
  readonly lastEdit: number;
  /** what is painted or posed; null where nothing is */
  readonly sketched: Sketched | null;
  /** [ms] that dabs of the brush took */
  readonly dabs: readonly number[];
  /** [ms] from the pointer's being somewhere until what it painted there was drawn */
  readonly waits: readonly number[];
  /** where the gizmo is in the picture, in shares of it */
  readonly handle: readonly [number, number] | null;
  /** (3,) [m] where the middle of the chosen key's region is drawn */
  readonly posed: readonly number[] | null;
  /** points of the line drawn beside it */
  readonly line: number;
  /** (3 line,) [m] where they are */
  readonly way: readonly number[];
  readonly trials: readonly Trial[];
  /** whether a path that is to be drawn is on its way: an edit would leave it behind, and a browser complains of that */
  readonly tracing: boolean;
}

export function offerHook(session: Session, notice: Notice, directing: () => Directing | null): void {
  let pictures = 0;
  session.on("drawn", () => pictures++);
  const hook: Hook = {
    get ready() { return session.isComplete && !session.isDirty; },
    get fine() { return session.isFine; },
    get reported() { return session.takes.every(({ number }) => session.reports.has(number)); },
    get frame() { return session.frameNumber; },
    get fps() { return session.player.fps; },
    get playing() { return session.player.playing; },
    get buffered() { return session.frames.get(session.look.active)?.count ?? 0; },
    get bufferedBytes() { return [...session.frames.values()].reduce((sum, frames) => sum + frames.heldBytes, 0); },
    get firstFrame() { return session.firstFrame; },
    get pictures() { return pictures; },
    get error() { return notice.text; },
    get said() { return notice.said; },
    get connection() { return notice.connection; },
    get look() { return session.look; },
    get camera() { return session.orbit.at; },
    get takes() { return session.takes.map(({ state, ready }) => ({ state, ready })); },
    get revision() { return directing()?.desk.sheet?.revision ?? 0; },
    get running() { return directing()?.desk.news?.running ?? false; },
    get sending() { return directing()?.desk.busy ?? false; },
    get lastEdit() { return directing()?.desk.lastEdit ?? 0; },
    get sketched() { return directing()?.sketch.state ?? null; },
    get dabs() { return directing()?.painting.brush.spent ?? []; },
    get waits() { return directing()?.painting.brush.waits ?? []; },
    get handle() { return directing()?.posing.gizmo.where ?? null; },
    get posed() { return directing()?.posing.drawn ?? null; },
    get line() { return this.way.length / 3; },
    get way() { return directing()?.posing.gizmo.drawn ?? []; },
    get tracing() { return directing()?.posing.isTracing ?? false; },
    get trials() { return directing()?.sketch.trials ?? []; },
  };
  Reflect.set(window, "bunraku", hook);
}
