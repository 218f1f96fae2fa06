/** Mouse, touchpad and fingers on the views: turn, move, come nearer; point at something; choose it. */

import { clamp } from "./dom";
import type { Session } from "./session";

/** What takes the pointer instead of the camera: a brush, a handle. */
export interface Tool {
  /** Whether a press at shares of the canvas is its own; then so is all until it is released. */
  down(event: PointerEvent, at: readonly [number, number]): boolean;
  drag(event: PointerEvent, at: readonly [number, number]): void;
  up(): void;
  /** the pointer rests, or passes over; null: it left */
  hover(at: readonly [number, number] | null): void;
}

export interface Pointing {
  /** the pointer rests at shares of the canvas; null: it left */
  hover(at: readonly [number, number] | null): void;
  /** a click that was no drag */
  choose(at: readonly [number, number]): void;
}

/** [pixels] a pointer moves before it is a drag */
const DRAG = 4;

export function takeGestures(canvas: HTMLCanvasElement, session: Session, pointing: Pointing): void {
  const { orbit } = session;
  const pointers = new Map<number, PointerEvent>();
  let travelled = 0;
  let button = 0;
  let held = -1; // the pointer that is the tool's
  const share = (event: MouseEvent): [number, number] => {
    const box = canvas.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    if (held >= 0) return;
    if (pointers.size === 0 && session.tool?.down(event, share(event))) {
      held = event.pointerId;
      return;
    }
    pointers.set(event.pointerId, event);
    travelled = 0;
    button = event.button;
    pointing.hover(null);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (event.pointerId === held) {
      session.tool?.drag(event, share(event));
      return;
    }
    const before = pointers.get(event.pointerId);
    if (before === undefined) {
      if (session.tool !== null) session.tool.hover(share(event));
      else pointing.hover(share(event));
      return;
    }
    const dx = event.clientX - before.clientX, dy = event.clientY - before.clientY;
    travelled += Math.abs(dx) + Math.abs(dy);
    const apart = spread(pointers);
    pointers.set(event.pointerId, event);
    if (travelled < DRAG) return;
    const height = canvas.clientHeight;
    if (pointers.size === 2) {
      orbit.pan(-dx / height / 2, dy / height / 2);
      if (apart > 0) orbit.dolly(apart / Math.max(spread(pointers), 1));
    } else if (button !== 0 || event.shiftKey) orbit.pan(-dx / height, dy / height);
    else if (event.ctrlKey || event.metaKey) orbit.dolly(Math.exp(0.006 * dy));
    else orbit.orbit(-0.008 * dx, 0.008 * dy);
  });
  const release = (event: PointerEvent): boolean => {
    if (event.pointerId !== held) return false;
    held = -1;
    session.tool?.up();
    return true;
  };
  canvas.addEventListener("pointerup", (event) => {
    if (release(event)) return;
    if (pointers.delete(event.pointerId) && travelled < DRAG && button === 0 && session.tool === null) pointing.choose(share(event));
  });
  canvas.addEventListener("pointercancel", (event) => {
    if (!release(event)) pointers.delete(event.pointerId);
  });
  canvas.addEventListener("pointerleave", () => {
    session.tool?.hover(null);
    pointing.hover(null);
  });
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("wheel", (event) => wheel(event, session, canvas.clientHeight), { passive: false });
}

/** A wheel comes nearer; two fingers on a touchpad turn, with shift they move, a pinch (ctrl in every browser) comes nearer. */
function wheel(event: WheelEvent, session: Session, height: number): void {
  event.preventDefault();
  const { orbit } = session;
  const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
  const dx = event.deltaX * unit, dy = event.deltaY * unit;
  // A mouse wheel jumps by whole notches and only up and down; a touchpad glides.
  const notched = event.deltaX === 0 && (event.deltaMode !== 0 || (Math.abs(event.deltaY) >= 60 && Number.isInteger(event.deltaY)));
  if (event.ctrlKey || event.metaKey) orbit.dolly(Math.exp(clamp(dy, -60, 60) * 0.01));
  else if (event.shiftKey) orbit.pan(dx / height, -dy / height);
  else if (notched) orbit.dolly(Math.exp(clamp(dy, -240, 240) * 0.0012));
  else orbit.orbit(0.005 * dx, 0.005 * dy);
}

function spread(pointers: ReadonlyMap<number, PointerEvent>): number {
  const [a, b] = [...pointers.values()];
  return a === undefined || b === undefined ? 0 : Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
}
