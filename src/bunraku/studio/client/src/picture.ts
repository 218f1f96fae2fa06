/** Pictures of what is shown, with names, frame and legend drawn into them. */

import { el } from "./dom";
import { otherFrame } from "./naming";
import { frameText, short } from "./numbers";
import { RAMP, takeColour } from "./ramp";
import type { Session } from "./session";
import { arrange, type View } from "./views";

/** [ms] to wait for one frame */
const PATIENCE = 60000;

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Draws the views at a size into a canvas of its own. */
export function draw(session: Session, size: Size, into: HTMLCanvasElement): void {
  const { painter } = session;
  const before = { width: painter.canvas.width, height: painter.canvas.height };
  // Where the canvas has one sample a pixel, four are drawn and brought together.
  const samples = painter.software ? 2 : 1;
  painter.resize(samples * size.width, samples * size.height);
  const views = arrange(session.look, session.takes, size.width / size.height);
  session.pose();
  painter.draw(views, session.actors, session.orbit);
  into.width = size.width;
  into.height = size.height;
  const pen = into.getContext("2d")!;
  pen.imageSmoothingQuality = "high";
  pen.drawImage(painter.canvas, 0, 0, size.width, size.height);
  caption(session, pen, size, views);
  painter.resize(before.width, before.height);
  session.invalidate();
}

function caption(session: Session, pen: CanvasRenderingContext2D, { width, height }: Size, views: readonly View[]): void {
  const unit = Math.max(height / 720, 0.6);
  pen.font = `${15 * unit}px system-ui, sans-serif`;
  pen.textBaseline = "alphabetic";
  const { look } = session;
  views.forEach((view, i) => {
    const right = look.mode === "wipe" && i === 1;
    pen.textAlign = right ? "right" : "left";
    const x = right ? width - 16 * unit : view.x * width + 16 * unit;
    const title = [view.title, otherFrame(session, view)].filter(Boolean).join(", ");
    if (look.mode === "grid" || look.mode === "wipe") write(pen, title, x, view.y * height + 26 * unit, takeColour(view.take));
    else write(pen, title, x, view.y * height + 26 * unit);
  });
  if (look.mode === "wipe") {
    pen.fillStyle = "#ffffffcc";
    pen.fillRect(Math.round(look.split * width) - unit, 0, 2 * unit, height);
  }
  pen.textAlign = "right";
  write(pen, frameText(session.frameNumber), width - 16 * unit, height - 16 * unit);
  legend(session, pen, unit, height);
}

/** Letters that can be read on light and dark. */
function write(pen: CanvasRenderingContext2D, text: string, x: number, y: number, underline?: string): void {
  pen.lineJoin = "round";
  pen.lineWidth = 3;
  pen.strokeStyle = "#1e1d1b99";
  pen.strokeText(text, x, y);
  pen.fillStyle = "#ffffff";
  pen.fillText(text, x, y);
  if (underline === undefined) return;
  const wide = pen.measureText(text).width;
  pen.fillStyle = underline;
  pen.fillRect(pen.textAlign === "right" ? x - wide : x, y + 5, wide, 3);
}

function legend(session: Session, pen: CanvasRenderingContext2D, unit: number, height: number): void {
  const overlay = session.overlayShown;
  if (overlay === null) return;
  const x = 16 * unit, y = height - 34 * unit, wide = 220 * unit;
  pen.textAlign = "left";
  const title = overlay.unit ? `${overlay.title} [${overlay.unit}]` : overlay.title;
  write(pen, title, x, overlay.draws === "values" ? y - 22 * unit : height - 16 * unit);
  if (overlay.draws !== "values") return;
  const ramp = pen.createLinearGradient(x, 0, x + wide, 0);
  RAMP.forEach((rgb, i) => ramp.addColorStop(i / (RAMP.length - 1), `rgb(${rgb.map((c) => Math.round(255 * c)).join(" ")})`));
  pen.fillStyle = ramp;
  pen.fillRect(x, y - 12 * unit, wide, 12 * unit);
  const [low, high] = session.ends();
  write(pen, short(low), x, y + 18 * unit);
  pen.textAlign = "right";
  write(pen, short(high), x + wide, y + 18 * unit);
}

export const blobOf = (canvas: HTMLCanvasElement, type: string, quality?: number): Promise<Blob> =>
  new Promise((done, refuse) => {
    const made = (blob: Blob | null): void => (blob === null ? refuse(new Error("This browser could not make the picture.")) : done(blob));
    canvas.toBlob(made, type, quality);
  });

/** What files are called: the take, the frame. */
export function fileName(session: Session, ending: string): string {
  const takes = session.seen.map((number) => session.takes[number]?.name ?? "").join(" and ");
  return `${takes.replaceAll(/[^\p{L}\p{N}. _-]/gu, "").replaceAll(" ", "_")}_${ending}`;
}

export function download(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  const anchor = el("a", { href: address, download: name });
  anchor.click();
  window.setTimeout(() => URL.revokeObjectURL(address), 60000);
}

/** Waits until all that the frame shown needs is here. */
export function untilHere(session: Session, signal?: AbortSignal): Promise<void> {
  return new Promise((done, refuse) => {
    const late = performance.now() + PATIENCE;
    const look = (): void => {
      if (signal?.aborted) refuse(new DOMException("left", "AbortError"));
      else if (session.isComplete) done();
      else if (performance.now() > late) refuse(new Error("A frame did not come within a minute; nothing was saved."));
      else window.setTimeout(look, 8);
    };
    look();
  });
}

export async function saveStill(session: Session, scale: number): Promise<void> {
  await untilHere(session);
  const { clientWidth, clientHeight } = session.painter.canvas;
  const canvas = el("canvas");
  draw(session, { width: clientWidth * scale, height: clientHeight * scale }, canvas);
  const name = fileName(session, `${frameText(session.frameNumber)}.png`); // before time goes on
  download(await blobOf(canvas, "image/png"), name);
}
