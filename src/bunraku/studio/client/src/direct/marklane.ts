/** Keys on the time line: a mark each, dragged in time from frame to frame, chosen by a click, removed by Delete. */

import { el } from "../dom";
import { goTo } from "../hand";
import { frameText } from "../numbers";
import type { Session } from "../session";
import { placeAt, shareOf } from "../timeline";

export interface Mark {
  readonly id: string;
  readonly frame: number;
  readonly title: string;
  /** whether it is a path's, which has a row of its own */
  readonly path: boolean;
}

/** [pixels] */
const BESIDE = 8;

export class MarkLane {
  readonly root: HTMLElement;
  private readonly plot = el("div", { class: "marks" });
  private marks: readonly Mark[] = [];
  private chosen: string | null = null;
  private dragged: { id: string; frame: number } | null = null;

  constructor(
    private readonly session: Session,
    private readonly acts: { chosen(id: string): void; moved(id: string, frame: number, done: boolean): void; removed(id: string): void },
  ) {
    const gutter = el("div", { class: "gutter" }, el("b", { class: "title" }, "Keys"));
    this.root = el("div", { class: "marklane", hidden: true, role: "group", "aria-label": "Keys on the time line" }, gutter, this.plot);
    session.on("takes", () => this.lay());
  }

  show(marks: readonly Mark[], chosen: string | null, on: boolean): void {
    this.root.hidden = !on;
    this.chosen = chosen;
    if (this.dragged !== null) return;
    this.marks = marks;
    const focused = this.plot.querySelector<HTMLElement>(":focus")?.dataset["id"];
    this.plot.replaceChildren(...marks.map((mark) => this.dot(mark)));
    if (focused !== undefined) this.plot.querySelector<HTMLElement>(`[data-id="${CSS.escape(focused)}"]`)?.focus();
    this.lay();
  }

  private dot(mark: Mark): HTMLElement {
    const label = `${mark.title} on frame ${frameText(mark.frame)}`;
    const dot = el("button", {
      type: "button", class: mark.path ? "mark knot" : "mark", title: label, "aria-label": label, "aria-pressed": String(mark.id === this.chosen), "data-id": mark.id,
    });
    dot.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      dot.setPointerCapture(event.pointerId);
      this.dragged = { id: mark.id, frame: mark.frame };
      this.acts.chosen(mark.id);
      goTo(this.session, this.session.shot.at(mark.frame));
    });
    dot.addEventListener("pointermove", (event) => this.drag(dot, event));
    for (const ended of ["pointerup", "pointercancel"] as const) dot.addEventListener(ended, () => this.release(mark.frame));
    dot.addEventListener("keydown", (event) => this.key(event, mark));
    return dot;
  }

  private drag(dot: HTMLElement, event: PointerEvent): void {
    const { dragged, session } = this;
    if (dragged === null || !dot.hasPointerCapture(event.pointerId)) return;
    const box = this.plot.getBoundingClientRect();
    const frame = session.shot.numbers[placeAt(session, (event.clientX - box.left) / box.width)] ?? dragged.frame;
    if (frame === dragged.frame) return;
    dragged.frame = frame;
    this.put(dot, frame);
    goTo(session, session.shot.at(frame));
    this.acts.moved(dragged.id, frame, false);
  }

  private release(from: number): void {
    const { dragged } = this;
    this.dragged = null;
    if (dragged !== null && dragged.frame !== from) this.acts.moved(dragged.id, dragged.frame, true);
  }

  private key(event: KeyboardEvent, mark: Mark): void {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const { numbers } = this.session.shot;
    if (by !== undefined) {
      const frame = numbers[this.session.shot.at(mark.frame) + by];
      if (frame !== undefined) this.acts.moved(mark.id, frame, true);
    } else if (event.key === "Delete" || event.key === "Backspace") this.acts.removed(mark.id);
    else if (event.key === "Enter" || event.key === " ") this.acts.chosen(mark.id);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private lay(): void {
    const there = new Map<string, number>();
    for (const dot of this.plot.children) {
      const mark = this.marks.find(({ id }) => id === (dot as HTMLElement).dataset["id"]);
      if (mark === undefined) continue;
      // Those of one frame lie beside each other, so that each can be taken.
      const cell = `${mark.path} ${mark.frame}`, before = there.get(cell) ?? 0;
      there.set(cell, before + 1);
      (dot as HTMLElement).style.translate = `${BESIDE * before}px`;
      this.put(dot as HTMLElement, mark.frame);
    }
    this.root.classList.toggle("tall", this.marks.some(({ path }) => path));
  }

  private put(dot: HTMLElement, frame: number): void {
    dot.style.left = `${100 * shareOf(this.session, this.session.shot.at(frame))}%`;
  }
}
