// Made from messages.py by `python -m bunraku.studio.typescript`; change it there.

/** of a take: a run writes into it, every frame was made, physics stopped it, its run ended early and may be resumed */
export type State = "running" | "finished" | "stopped" | "interrupted";

/** of a sentence, as in the report */
export type Kind = "met" | "missed" | "yielded" | "note";

/** Something that can be drawn on the result. */
export interface Overlay {
  /** what a request for frames calls it */
  readonly name: string;
  readonly title: string;
  /** "" for a plain number or a label */
  readonly unit: string;
  /**
   * values: an array (n,) with every frame; labels: `label` of the mesh, whole numbers, −1 where there is none;
   * segments: an array (m, 2, 3) of points [m] with every frame
   */
  readonly draws: "values" | "labels" | "segments";
  /** one sentence for whoever wonders what is shown */
  readonly about: string;
  readonly low: number;
  /** ends of the colour scale that suit the whole take, as far as it is known */
  readonly high: number;
}

/** A take that is open. */
export interface Take {
  /** its place in requests, from 0 */
  readonly number: number;
  /** 'box v003' */
  readonly name: string;
  readonly folder: string;
  readonly object: string;
  readonly state: State;
  /** frame numbers of the shot, those not made yet included; requests count frames by their place in here */
  readonly frames: readonly number[];
  /** how many of them are there, from the first */
  readonly ready: number;
  /** [frames/s] */
  readonly rate: number;
  readonly vertices: number;
  readonly faces: number;
  readonly guide_vertices: number;
  readonly guide_faces: number;
  readonly obstacle_faces: number;
  /** (3,) [m] of all that is to be seen over the shot; y is up */
  readonly centre: readonly number[];
  /** [m] of a ball about it that holds that */
  readonly radius: number;
  /** [m] height of the ground, where there is one */
  readonly floor: number | null;
  /** names by number */
  readonly regions: readonly string[];
  readonly overlays: readonly Overlay[];
}

/** A setting in which the open takes differ. */
export interface Difference {
  /** as in a shot file: 'physics.substeps' */
  readonly key: string;
  /** one a take, as a shot file says it; '' where it does not */
  readonly values: readonly string[];
}

/** GET /takes: what is open. */
export interface Opened {
  readonly version: string;
  readonly takes: readonly Take[];
  readonly differences: readonly Difference[];
  /** the shot file that is edited; '' where takes are looked at only */
  readonly directed: string;
}

/** Something the report says, and where to look. */
export interface Sentence {
  readonly kind: Kind;
  readonly text: string;
  /** a frame number of the shot */
  readonly frame: number | null;
  readonly region: number | null;
}

/** A number a frame. */
export interface Curve {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  /** whether a logarithmic scale shows it better */
  readonly log: boolean;
  /** one a frame that is ready; None where there is none */
  readonly values: readonly (number | null)[];
}

/** GET /takes/N/report: what is known of the frames that are ready. */
export interface Report {
  readonly state: State;
  readonly ready: number;
  /** empty while a run goes on */
  readonly sentences: readonly Sentence[];
  readonly curves: readonly Curve[];
  /** the shot file, every default written out */
  readonly shot: string;
}

/**
 * GET /takes/N/news?ready=K&state=S: answered when more than K frames are ready or the state is not S any more,
 * after some twenty seconds in any case.
 */
export interface News {
  readonly state: State;
  readonly ready: number;
  /** frames to make in all, preroll included */
  readonly count: number;
  /** of these, made */
  readonly done: number;
  /** about, until the last frame; None where nobody knows */
  readonly seconds_left: number | null;
  readonly can_cancel: boolean;
}

/**
 * POST /takes/N/cancel: the run was asked to stop; it does after the frame it is at, and can be resumed.
 * POST /movies/ID/cancel: the film was left, and what there was of it removed.
 */
export interface Cancelled {
  /** False: no run writes into this take; there is no such film */
  readonly asked: boolean;
}

/** An array in a parcel. */
export interface ArrayPlace {
  readonly name: string;
  readonly type: "u2" | "u4" | "i4" | "f4";
  readonly shape: readonly number[];
  /** [bytes] from the end of the padded header */
  readonly offset: number;
  readonly low: readonly number[] | null;
  /** of shares: what 0 and 65535 stand for, one a column (one for an array (n,)) */
  readonly high: readonly number[] | null;
}

/** What belongs to one frame, or to none. */
export interface Entry {
  /** its place among the take's frames; None for what does not move */
  readonly frame: number | null;
  readonly arrays: readonly ArrayPlace[];
}

/**
 * Header of a parcel.
 *
 * GET /takes/N/mesh has one entry: faces (f, 3) u4, guide_faces, obstacle_faces, and label (n,) i4 where there are
 * regions. GET /takes/N/frames?from=A&count=B&overlay=NAME&with=guide,obstacles has one a frame that is ready: points
 * (n, 3) of shares, guide and obstacles alike where asked for, and the overlay's array under its name.
 */
export interface Parcel {
  readonly entries: readonly Entry[];
}

/**
 * POST /movies?width=W&height=H&rate=R: a film to which pictures are sent, POST /movies/ID with a PNG or JPEG each;
 * GET /movies/ID ends it and answers with the mp4.
 */
export interface MovieBegun {
  readonly id: string;
}

/** An object of the shot that is directed. */
export interface ShotObject {
  /** of its table: ('object', 'coat'), or with ('stage', 'dress') before it */
  readonly path: readonly (string | number)[];
  readonly name: string;
  /** 'shell', 'obstacle', 'body', 'plan' or 'wrinkle' */
  readonly role: string;
  /** what it goes after, as its file says it; '' where there is nothing */
  readonly follows: string;
}

/** A setting of the shot, whether or not its file says it. */
export interface Knob {
  /** from the outermost table on */
  readonly path: readonly (string | number)[];
  readonly doc: string;
  /** numbers: as many as its default or value has, such as a velocity */
  readonly kind: "number" | "whole" | "flag" | "choice" | "text" | "numbers";
  readonly unit: string;
  readonly low: number | null;
  /** what is allowed; None where there is no end */
  readonly high: number | null;
  /** whether `low` itself is not allowed */
  readonly open: boolean;
  /** of a choice; of a number words that may stand in its place */
  readonly options: readonly string[];
  /** whether it may be keyed: [[frame, value, ease], …] */
  readonly keyable: boolean;
  /** what holds where the file does not say it; None where only `otherwise` knows */
  readonly default: unknown;
  /** the same in words, where those are needed */
  readonly otherwise: string;
  /** as the file says it; None where it does not */
  readonly value: unknown;
}

/** GET /shot: the shot as it stands in its file. */
export interface ShotSheet {
  readonly revision: number;
  readonly file: string;
  readonly text: string;
  readonly first: number | null;
  /** frames, as the file says; None where its guide decides */
  readonly last: number | null;
  readonly objects: readonly ShotObject[];
  readonly knobs: readonly Knob[];
  /** what is wrong with the file, where somebody else wrote what cannot be run; knobs are then the last ones */
  readonly problems: readonly string[];
  /** unified, from the file as it was when directing began; '' where it is the same */
  readonly diff: string;
  /** what can be taken back, in a sentence; '' for nothing */
  readonly undo: string;
  readonly redo: string;
}

/** One key of the shot file. */
export interface Change {
  /** names, and places in lists from 0 */
  readonly path: readonly (string | number)[];
  /** None removes it */
  readonly value: unknown;
}

/** Arrays to be kept in a file beside the shot, <shot>.<name>.bkarrays. */
export interface ArraysBeside {
  readonly name: string;
  /** of arrays that were sent before */
  readonly id: string;
}

/** POST /shot/edit: all of it or nothing. */
export interface Edit {
  /** for which it was made */
  readonly revision: number;
  readonly changes: readonly Change[];
  readonly files: readonly ArraysBeside[];
  /** one sentence: what undo calls it */
  readonly about: string;
  /** edits of one gesture that follow each other are one step; '' for a step of its own */
  readonly gesture: string;
  /** of whom */
  readonly tab: string;
}

/** POST /shot/undo, POST /shot/redo. */
export interface Step {
  readonly revision: number;
  readonly tab: string;
}

/** What an edit, or taking one back, has made of the shot. */
export interface Edited {
  readonly sheet: ShotSheet;
  /** of this change alone, unified */
  readonly diff: string;
}

/** POST /shot/arrays: a parcel was taken in; an edit may name it. */
export interface ArraysKept {
  readonly id: string;
}

/** POST /run: a take of the shot as it is. */
export interface RunWanted {
  readonly revision: number;
}

/** GET /shot/news?revision=R&run=K: answered when there is another revision than R, or the run's number is not K. */
export interface ShotNews {
  readonly revision: number;
  /** the tab that made it; '' where the file was edited elsewhere */
  readonly by: string;
  /** what was done */
  readonly about: string;
  /** goes up whenever something happens to the run that was asked for here */
  readonly run: number;
  readonly running: boolean;
  /** its number among the takes, once its folder is there */
  readonly take: number | null;
  /** what it does before there are frames, or why it ended */
  readonly saying: string;
  /** whether it ended early or was refused */
  readonly failed: boolean;
}

/** The body of every reply that is not 200, in one sentence; plain text instead without a token. */
export interface Refused {
  readonly error: string;
}

export type Role = "shell" | "obstacle" | "body" | "plan" | "wrinkle";

/** POST /shot/role: another role for an object. What only its former one understands goes. */
export interface RoleWanted {
  readonly revision: number;
  /** of the object's table */
  readonly path: readonly (string | number)[];
  readonly role: Role;
  readonly tab: string;
}

/** POST /shot/motion: something else for an object to go after. */
export interface MotionWanted {
  readonly revision: number;
  /** of the object's table */
  readonly path: readonly (string | number)[];
  /** as the file will say it: { file, prim }, { take }, … */
  readonly told: unknown;
  readonly tab: string;
}

/** Something that an object may go after. */
export interface OfferedMotion {
  readonly told: unknown;
  readonly title: string;
  /** what it goes after now; what another object does, a stage, a finished take, a file */
  readonly group: "now" | "object" | "stage" | "take" | "file";
}

/** GET /shot/motions?object=coat&stage=: what an object may go after, that which it does first. */
export interface OfferedMotions {
  readonly revision: number;
  readonly motions: readonly OfferedMotion[];
}

/** A region that the shot defines on an object. */
export interface SketchPart {
  readonly name: string;
  /** how many it has; which is in the mesh's parcel, under 'part/K' */
  readonly vertices: number;
  /** (3,) [m] at rest: what keys turn about */
  readonly middle: readonly number[];
}

/** How a key of a plan is met. */
export interface KeyMet {
  /** 'keys[0]' */
  readonly where: string;
  readonly met: boolean;
  readonly missed: number;
  readonly unit: string;
}

/**
 * GET /sketch?object=coat: an object as it is directed, nothing run.
 *
 * GET /sketch/mesh?object=coat is a parcel of one entry: faces (f, 3) u4, label (n,) i4 (places in `names`, −1 none),
 * area (n,) f4 [m²], and part/K (v,) u4, the vertices of the K-th of `parts`.
 * GET /sketch/frames?object=&from=&count=&tab= is a parcel of points (n, 3) of shares, a frame each; where that tab
 * tries keys, of these.
 * GET /sketch/images?object=&axis=0&tolerance=0.001 has image (n,) i4, the mirror image of each vertex or −1.
 */
export interface SketchSheet {
  readonly revision: number;
  readonly object: string;
  readonly role: string;
  readonly vertices: number;
  readonly faces: number;
  readonly frames: readonly number[];
  /** [frames/s] */
  readonly rate: number;
  readonly centre: readonly number[];
  /** [m] of a ball about the centre that holds all of it over the shot */
  readonly radius: number;
  /** (3,) [m] in the world of where coordinates are counted from */
  readonly origin: readonly number[];
  /** of the regions that are painted */
  readonly names: readonly string[];
  /** of a shell: whether they are what obeys the guide */
  readonly obeyed: boolean;
  /** another where regions, painted or not, have other vertices */
  readonly paint: string;
  readonly parts: readonly SketchPart[];
  /** what directs it in time: keys of a plan, phases with keys, key shapes of a body; '' for none of these */
  readonly kind: "keys" | "phases" | "shapes" | "";
  /** the list under keys, or phases, as the file says it */
  readonly keys: unknown;
  /** the frame on which each phase begins */
  readonly begins: readonly number[];
  /** of a body, the list under path */
  readonly paths: unknown;
  readonly met: readonly KeyMet[];
  /** what is to be said of a plan's search */
  readonly sentences: readonly string[];
}

/**
 * POST /sketch/keys: keys, or phases, of a plan that the file does not say. Answered with a parcel: points (n, 3)
 * of shares on a frame, and met (k, 2) f4, whether each key is and by how much not.
 */
export interface KeysTried {
  readonly object: string;
  readonly revision: number;
  readonly keys: unknown;
  /** its place among the sheet's frames */
  readonly frame: number;
  readonly tab: string;
}

/**
 * POST /sketch/shape: a key of a body, answered with a parcel of points (n, 3) of shares. POST /sketch/path: a path
 * of it, answered with curve (m, 3) f4 [m].
 */
export interface ShapeTried {
  readonly object: string;
  readonly revision: number;
  readonly told: unknown;
}

/**
 * POST /sketch/knot: a knot more, on a frame of the shot, of the path that a region of a body goes, or the whole
 * body; one that is not there yet is begun. The file stays as it is. Answered with Knotted.
 */
export interface KnotWanted {
  readonly object: string;
  readonly revision: number;
  readonly region: string | null;
  readonly frame: number;
}

/** Paths with one knot more. */
export interface Knotted {
  /** the list under path */
  readonly paths: unknown;
}

/** Vertices that follow each other and have one label. */
export interface LabelRun {
  readonly label: number;
  readonly count: number;
}

/** POST /sketch/pieces: which connected piece each vertex whose label is not −1 is in: label (n,) i4. */
export interface PiecesWanted {
  readonly object: string;
  readonly runs: readonly LabelRun[];
}

/**
 * POST /sketch/clusters: regions that follow the guide, label (n,) i4; so many or of a size [m], of what has a
 * label in `runs`, of everything where that is empty.
 */
export interface ClustersWanted {
  readonly object: string;
  readonly count: number | null;
  readonly scale: number | null;
  readonly compactness: number;
  readonly seed: number;
  readonly runs: readonly LabelRun[];
}

/** A painted region that has another name. */
export interface Renamed {
  readonly before: string;
  readonly after: string;
}

/** POST /sketch/labels: what is painted is written beside the shot, which names it. Answered with Edited. */
export interface PaintedLabels {
  readonly revision: number;
  readonly object: string;
  readonly names: readonly string[];
  /** of all vertices, by their number */
  readonly runs: readonly LabelRun[];
  readonly renamed: readonly Renamed[];
  /** of a shell: whether these regions are what obeys the guide; None: as it is */
  readonly obeyed: boolean | null;
  readonly about: string;
  readonly tab: string;
}

/**
 * POST /sketch/edit: an edit of one object, refused as well where the object could not be made any more: a key out
 * of time, say, or of a region that is fixed. Answered with Edited.
 */
export interface ObjectEdit {
  readonly revision: number;
  readonly object: string;
  readonly changes: readonly Change[];
  readonly about: string;
  readonly gesture: string;
  readonly tab: string;
}
