/** Requests to the server. The token is that of the page's own address and travels in a header. */

import type {
  ArraysKept, Cancelled, ClustersWanted, Edit, Edited, KeysTried, Knotted, KnotWanted, MotionWanted, MovieBegun, News, ObjectEdit, OfferedMotions, Opened, PaintedLabels, PiecesWanted, Refused,
  Report, RoleWanted, ShapeTried, ShotNews, ShotSheet, SketchSheet,
} from "./messages";

/** The server refused, in a sentence; status 0 when nobody answered. */
export class ServerError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === "AbortError";

/** Whether nothing can be asked any more: nobody answers, or the page's token is not taken. */
export const isGone = (error: unknown): error is ServerError =>
  error instanceof ServerError && (error.status === 0 || error.status === 403);

const token = new URLSearchParams(location.search).get("token") ?? "";

async function refusal(reply: Response): Promise<ServerError> {
  const text = await reply.text().catch(() => "");
  try {
    return new ServerError(reply.status, (JSON.parse(text) as Refused).error);
  } catch {
    return new ServerError(reply.status, text.slice(0, 300) || `The server answered ${reply.status}.`);
  }
}

async function ask(path: string, options: RequestInit = {}): Promise<Response> {
  let reply: Response;
  try {
    reply = await fetch(path, { ...options, headers: { "X-Bunraku-Token": token }, cache: "no-store" });
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new ServerError(0, "The server does not answer.");
  }
  if (!reply.ok) throw await refusal(reply);
  return reply;
}

/** The body of a reply; a connection that breaks half-way counts as nobody answering. */
async function body<T>(reply: Response, read: (reply: Response) => Promise<T>): Promise<T> {
  try {
    return await read(reply);
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new ServerError(0, "The server stopped in the middle of an answer.");
  }
}

const json = async <T>(path: string, options: RequestInit = {}): Promise<T> =>
  body(await ask(path, options), (reply) => reply.json() as Promise<T>);

const bytes = async (path: string, signal?: AbortSignal): Promise<ArrayBuffer> =>
  body(await ask(path, { signal: signal ?? null }), (reply) => reply.arrayBuffer());

export const takes = (): Promise<Opened> => json("/takes");
export const mesh = (take: number): Promise<ArrayBuffer> => bytes(`/takes/${take}/mesh`);
export const report = (take: number): Promise<Report> => json(`/takes/${take}/report`);
export const cancel = (take: number): Promise<Cancelled> => json(`/takes/${take}/cancel`, { method: "POST" });

export const news = (take: number, ready: number, state: string, signal: AbortSignal): Promise<News> =>
  json(`/takes/${take}/news?ready=${ready}&state=${state}`, { signal });

export interface FramesWanted {
  readonly take: number;
  readonly from: number;
  readonly count: number;
  readonly overlay: string | null;
  readonly parts: readonly string[];
}

export function frames(wanted: FramesWanted, signal: AbortSignal): Promise<ArrayBuffer> {
  const query = new URLSearchParams({ from: String(wanted.from), count: String(wanted.count) });
  if (wanted.overlay !== null) query.set("overlay", wanted.overlay);
  if (wanted.parts.length > 0) query.set("with", wanted.parts.join(","));
  return bytes(`/takes/${wanted.take}/frames?${query}`, signal);
}

export const beginMovie = (width: number, height: number, rate: number): Promise<MovieBegun> =>
  json(`/movies?width=${width}&height=${height}&rate=${rate}`, { method: "POST" });

export async function addPicture(movie: string, picture: Blob, signal: AbortSignal): Promise<void> {
  await ask(`/movies/${movie}`, { method: "POST", body: picture, signal });
}

export const leaveMovie = (movie: string): Promise<Cancelled> => json(`/movies/${movie}/cancel`, { method: "POST" });

export const endMovie = async (movie: string): Promise<Blob> =>
  body(await ask(`/movies/${movie}`), (reply) => reply.blob());

const post = <T>(path: string, told: unknown): Promise<T> => json(path, { method: "POST", body: JSON.stringify(told) });

export const shot = (): Promise<ShotSheet> => json("/shot");
export const editShot = (edit: Edit): Promise<Edited> => post("/shot/edit", edit);
export const stepShot = (which: "undo" | "redo", revision: number, tab: string): Promise<Edited> => post(`/shot/${which}`, { revision, tab });
export function motions(path: readonly (string | number)[]): Promise<OfferedMotions> {
  const stage = path[0] === "stage" ? String(path[1]) : "";
  return json(`/shot/motions?${new URLSearchParams({ object: String(path.at(-1)), stage })}`);
}
export const playRole = (wanted: RoleWanted): Promise<Edited> => post("/shot/role", wanted);
export const followMotion = (wanted: MotionWanted): Promise<Edited> => post("/shot/motion", wanted);
export const shotNews = (revision: number, run: number, signal: AbortSignal): Promise<ShotNews> =>
  json(`/shot/news?revision=${revision}&run=${run}`, { signal });
export const sendArrays = (parcel: ArrayBuffer): Promise<ArraysKept> => json("/shot/arrays", { method: "POST", body: parcel });
export const shotArrays = (name: string): Promise<ArrayBuffer> => bytes(`/shot/arrays?name=${encodeURIComponent(name)}`);
export const run = (revision: number): Promise<ShotNews> => post("/run", { revision });
export const cancelRun = (): Promise<Cancelled> => json("/run/cancel", { method: "POST" });

const posted = async (path: string, told: unknown): Promise<ArrayBuffer> =>
  body(await ask(path, { method: "POST", body: JSON.stringify(told) }), (reply) => reply.arrayBuffer());
const about = (object: string): string => `object=${encodeURIComponent(object)}`;

export const sketch = (object: string): Promise<SketchSheet> => json(`/sketch?${about(object)}`);
export const sketchMesh = (object: string): Promise<ArrayBuffer> => bytes(`/sketch/mesh?${about(object)}`);
export const sketchFrames = (object: string, from: number, count: number, tab: string, signal: AbortSignal): Promise<ArrayBuffer> =>
  bytes(`/sketch/frames?${about(object)}&from=${from}&count=${count}&tab=${tab}`, signal);
export const sketchImages = (object: string, axis: number, tolerance: number): Promise<ArrayBuffer> =>
  bytes(`/sketch/images?${about(object)}&axis=${axis}&tolerance=${tolerance}`);
export const tryKeys = (tried: KeysTried): Promise<ArrayBuffer> => posted("/sketch/keys", tried);
export const tryShape = (tried: ShapeTried): Promise<ArrayBuffer> => posted("/sketch/shape", tried);
export const tryPath = (tried: ShapeTried): Promise<ArrayBuffer> => posted("/sketch/path", tried);
export const knot = (wanted: KnotWanted): Promise<Knotted> => post("/sketch/knot", wanted);
export const pieces = (wanted: PiecesWanted): Promise<ArrayBuffer> => posted("/sketch/pieces", wanted);
export const clusters = (wanted: ClustersWanted): Promise<ArrayBuffer> => posted("/sketch/clusters", wanted);
export const editObject = (edit: ObjectEdit): Promise<Edited> => post("/sketch/edit", edit);
export const paint = (painting: PaintedLabels): Promise<Edited> => post("/sketch/labels", painting);
