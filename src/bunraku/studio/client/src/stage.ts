/** The views' canvas and what lies over it: names, the wipe's divider, what the pointer is at. */

import { dragged, el, onResize, roundShare } from "./dom";
import { takeGestures } from "./gestures";
import { activate, putRight } from "./hand";
import { otherFrame } from "./naming";
import { short, withUnit } from "./numbers";
import { pick, viewAt, type Hit } from "./pick";
import { takeColour } from "./ramp";
import type { Session } from "./session";
import type { View } from "./views";

export function makeStage(session: Session, canvas: HTMLCanvasElement): HTMLElement {
  const names = el("div", { class: "names" });
  const probe = el("div", { class: "probe", hidden: true });
  const stage = el("section", { class: "stage", "aria-label": "Views" }, canvas, names, divider(session), probe);
  canvas.tabIndex = -1;
  canvas.setAttribute("role", "img");
  onResize(stage, (width, height) => {
    session.resize(width, height);
  });
  const sayFrames = (): void => session.views.forEach((view, i) => {
    const note = names.children[i]?.querySelector("small");
    if (note) note.textContent = otherFrame(session, view);
  });
  session.on("views", () => {
    names.replaceChildren(...session.views.map((view, i) => nameOf(session, view, i)));
    sayFrames();
    canvas.setAttribute("aria-label", `3-D view: ${session.views.map((view) => view.title).join(", ")}`);
  });
  const pointing = new Probe(session, canvas, probe);
  takeGestures(canvas, session, pointing);
  for (const topic of ["frame", "takes"] as const) session.on(topic, sayFrames);
  for (const topic of ["frame", "views"] as const) session.on(topic, () => pointing.hover(null));
  session.store.watch(["overlay"], () => pointing.hover(null));
  let camera = "";
  session.on("drawn", () => {
    const now = JSON.stringify(session.orbit.at);
    if (now !== camera) pointing.hover(null);
    camera = now;
  });
  return stage;
}

function nameOf(session: Session, view: View, index: number): HTMLElement {
  const { look } = session;
  const several = look.mode === "grid" || look.mode === "wipe";
  const dot = several ? el("i", { class: "dot" }) : null;
  if (dot) dot.style.background = takeColour(view.take);
  const right = look.mode === "wipe" && index === 1;
  const title = look.mode === "wipe" ? chooser(session, view, right) : view.title;
  const name = el("div", { class: `name ${view.part}` }, dot, title, el("small"));
  name.style.top = `calc(${100 * view.y}% + 10px)`;
  if (right) name.style.right = "12px";
  else name.style.left = `calc(${100 * view.x}% + 12px)`;
  return name;
}

/** Which take is on this side of the wipe. */
function chooser(session: Session, view: View, right: boolean): HTMLSelectElement {
  const choice = el("select", { "aria-label": right ? "Take on the right" : "Take on the left" });
  for (const take of session.takes) choice.append(el("option", { value: String(take.number) }, take.name));
  choice.value = String(view.take);
  choice.addEventListener("change", () => (right ? putRight : activate)(session, Number(choice.value)));
  return choice;
}

function divider(session: Session): HTMLElement {
  const spoken = { "aria-label": "Divider of the wipe", "aria-valuemin": 0, "aria-valuemax": 100 };
  const bar = el("div", { class: "divider", role: "slider", tabIndex: 0, ...spoken }, el("span"));
  session.store.watch(["mode", "split"], ({ mode, split }) => {
    bar.hidden = mode !== "wipe";
    bar.style.left = `${100 * split}%`;
    bar.setAttribute("aria-valuenow", String(Math.round(100 * split)));
    bar.setAttribute("aria-valuetext", `${Math.round(100 * split)} % of the picture shows the left take`);
  });
  bar.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -0.02, ArrowRight: 0.02, PageDown: -0.1, PageUp: 0.1, Home: -1, End: 1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    session.store.set({ split: roundShare(session.look.split + by) });
  });
  dragged(bar, (_, event) => {
    const box = bar.parentElement!.getBoundingClientRect();
    session.store.set({ split: roundShare((event.clientX - box.left) / box.width) });
  });
  return bar;
}

const NONE = { region: null, regionTake: null };

/** Says what is under the pointer; a click chooses its region. */
class Probe {
  private waiting = 0;

  constructor(
    private readonly session: Session,
    private readonly canvas: HTMLCanvasElement,
    private readonly line: HTMLElement,
  ) {}

  hover(at: readonly [number, number] | null): void {
    clearTimeout(this.waiting);
    if (at === null || this.session.player.playing) {
      this.line.hidden = true;
      return;
    }
    // Only where the pointer rests for a moment: looking through 200,000 faces takes some milliseconds.
    this.waiting = window.setTimeout(() => this.say(this.at(at), at), 40);
  }

  choose(at: readonly [number, number]): void {
    const hit = this.at(at);
    const { look, store } = this.session;
    const again = hit?.region === look.region && hit?.take === look.regionTake;
    store.set(hit === null || hit.region === null || again ? NONE : { region: hit.region, regionTake: hit.take });
    if (hit !== null) this.say(hit, at);
  }

  private at(place: readonly [number, number]): Hit | null {
    const { session, canvas } = this;
    const view = viewAt(session.views, ...place);
    const actor = view === null ? undefined : session.actors.get(view.take);
    if (view === null || actor === undefined) return null;
    return pick(view, actor, session.orbit, canvas.width / canvas.height, ...place);
  }

  private say(hit: Hit | null, at: readonly [number, number]): void {
    this.line.hidden = hit === null;
    if (hit === null) return;
    const take = this.session.takeOf(hit.take);
    const overlay = this.session.overlayOf(take);
    const region = hit.region === null ? null : (take?.regions[hit.region] ?? `region ${hit.region}`);
    const amount = hit.value === null || overlay === null ? "" : Number.isFinite(hit.value) ? withUnit(hit.value, overlay.unit) : short(hit.value);
    const value = amount === "" || overlay === null ? null : `${overlay.title.toLowerCase()} ${amount}`;
    this.line.textContent = [`vertex ${hit.vertex}`, region, value].filter(Boolean).join(" · ");
    const right = at[0] > 0.7;
    this.line.style.left = right ? "auto" : `calc(${100 * at[0]}% + 14px)`;
    this.line.style.right = right ? `calc(${100 * (1 - at[0])}% + 14px)` : "auto";
    this.line.style.top = `calc(${100 * at[1]}% + ${at[1] > 0.85 ? -30 : 16}px)`;
  }
}
