/** The scale of colours of the overlay shown: title, unit, ends that can be typed. */

import { button, el } from "./dom";
import { numberIn, short } from "./numbers";
import { rampCss } from "./ramp";
import type { Session } from "./session";

export function makeLegend(session: Session): HTMLElement {
  const title = el("div", { class: "title" });
  const strip = el("div", { class: "strip" });
  strip.style.background = rampCss();
  const low = end("Lower end of the scale");
  const high = end("Upper end of the scale");
  const reset = button("reset", "Ends that suit the whole take", () => {
    const { [session.look.overlay ?? ""]: _, ...rest } = session.look.ends;
    session.store.set({ ends: rest });
  }, { class: "link" });
  const ends = el("div", { class: "ends" }, low, reset, high);
  const about = el("small");
  const legend = el("div", { class: "legend", role: "group", "aria-label": "Legend" }, title, strip, ends, about);
  /** The end that was not typed over stays as it is, and not as few digits show it. */
  const change = (from: number, to: number): void => {
    const name = session.look.overlay;
    if (name !== null && Number.isFinite(from) && Number.isFinite(to) && to > from)
      session.store.set({ ends: { ...session.look.ends, [name]: [from, to] } });
    else show();
  };
  low.addEventListener("change", () => change(numberIn(low.value), session.ends()[1]));
  high.addEventListener("change", () => change(session.ends()[0], numberIn(high.value)));
  const show = (): void => {
    const overlay = session.overlayShown;
    legend.hidden = overlay === null;
    if (overlay === null) return;
    const scaled = overlay.draws === "values";
    title.textContent = overlay.unit ? `${overlay.title} [${overlay.unit}]` : overlay.title;
    legend.title = overlay.about;
    strip.hidden = ends.hidden = !scaled;
    about.hidden = scaled;
    about.textContent = overlay.about;
    const [from, to] = session.ends();
    low.value = short(from);
    high.value = short(to);
    reset.hidden = session.look.ends[overlay.name] === undefined;
  };
  session.store.watch(["overlay", "ends"], show);
  for (const topic of ["takes", "views"] as const) session.on(topic, show);
  return legend;
}

function end(label: string): HTMLInputElement {
  return el("input", { type: "text", inputMode: "decimal", size: 6, "aria-label": label, spellcheck: false });
}
