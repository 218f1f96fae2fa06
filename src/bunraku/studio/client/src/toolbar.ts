/** The bar at the top: how to look, what is drawn on the result, what to take away. */

import { button, el, icon } from "./dom";
import { showHelp } from "./help";
import { copyLink } from "./link";
import { makeMenu, type Menu } from "./menu";
import { movieSheet } from "./movie";
import { saveStill } from "./picture";
import type { Session } from "./session";
import { toggleTheme } from "./theme";
import type { Mode } from "./store";

interface ModeChoice {
  readonly mode: Mode;
  readonly word: string;
  readonly about: string;
}

export const MODES: readonly ModeChoice[] = [
  { mode: "side", word: "Side by side", about: "Guide and result side by side (1)" },
  { mode: "over", word: "Overlaid", about: "Guide over the result (2)" },
  { mode: "result", word: "Result", about: "The result alone (3)" },
  { mode: "grid", word: "Grid", about: "Takes in a grid (4)" },
  { mode: "wipe", word: "Wipe", about: "Two takes, one picture, a divider (5)" },
];

const WIRE = "M2 4.5 8 1.8l6 2.7v7L8 14.2l-6-2.7zM2 4.5l6 3 6-3M8 7.5v6.7M2 11.5l6-4 6 4";
const FRAME = "M2 5V2h3M11 2h3v3M14 11v3h-3M5 14H2v-3M5.5 8a2.5 2.5 0 1 0 5 0 2.5 2.5 0 1 0-5 0";

export function makeToolbar(session: Session, say: (text: string) => void): HTMLElement {
  const { store } = session;
  const wire = button(icon(WIRE), "Wireframe (M)", () => store.set({ wire: !session.look.wire }));
  const panel = button(icon("M2 3h12v10H2zM10 3v10"), "Side panel (P)", () => store.set({ panel: !session.look.panel }));
  store.watch(["wire", "panel"], (look) => {
    wire.setAttribute("aria-pressed", String(look.wire));
    panel.setAttribute("aria-pressed", String(look.panel));
  });
  return el("header", { class: "bar" },
    el("h1", {}, "bunraku"),
    modeSwitch(session),
    overlayChoice(session),
    el("div", { class: "group", role: "group", "aria-label": "Camera" },
      wire,
      button(icon(FRAME), "Frame all, or the chosen region (F)", () => session.frameChosen()),
      button("Front", "From the front (Z)", () => session.orbit.look(0, 0), { class: "word" }),
      button("Side", "From the side (X)", () => session.orbit.look(Math.PI / 2, 0), { class: "word" }),
      button("Top", "From above (Y)", () => session.orbit.look(0, 1.55), { class: "word" })),
    el("span", { class: "space" }),
    el("div", { class: "group", role: "group", "aria-label": "Take away" },
      button("Link", "Copy a link to what is shown (U)", () => void copyLink(session, say), { class: "word" }),
      stillMenu(session).root,
      filmMenu(session, say).root),
    el("div", { class: "group", role: "group", "aria-label": "Page" },
      button(icon("M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12"), "Light or dark (T)", () => toggleTheme(session)),
      panel,
      button("?", "Keyboard shortcuts (?)", () => showHelp(), { class: "word" })));
}

function modeSwitch(session: Session): HTMLElement {
  const group = el("div", { class: "switch", role: "group", "aria-label": "View" });
  const buttons = MODES.map(({ mode, word, about }) => {
    const each = button(word, about, () => session.store.set({ mode }));
    each.dataset["mode"] = mode;
    group.append(each);
    return { mode, each };
  });
  const show = (): void => {
    const several = session.takes.length > 1;
    const guided = (session.active?.guide_faces ?? 0) > 0;
    for (const { mode, each } of buttons) {
      each.hidden = (mode === "grid" || mode === "wipe") && !several;
      each.disabled = (mode === "side" || mode === "over") && !guided;
      each.setAttribute("aria-pressed", String(mode === session.look.mode));
    }
  };
  session.store.watch(["mode", "active"], show);
  session.on("takes", show);
  return group;
}

function overlayChoice(session: Session): HTMLElement {
  const choice = el("select", { "aria-label": "Overlay", title: "What is drawn on the result (V)" });
  let listed = "";
  const show = (): void => {
    const { overlays } = session;
    const names = overlays.map((overlay) => overlay.name).join("\n");
    if (names !== listed || choice.options.length === 0) {
      listed = names;
      const options = overlays.map(({ name, title, about }) => el("option", { value: name, title: about }, title));
      choice.replaceChildren(el("option", { value: "" }, "No overlay"), ...options);
    }
    choice.value = session.overlayShown?.name ?? "";
  };
  choice.addEventListener("change", () => session.store.set({ overlay: choice.value || null }));
  session.store.watch(["overlay"], show);
  for (const topic of ["takes", "views"] as const) session.on(topic, show);
  return choice;
}

/** The overlay after the one shown, or before it. */
export function nextOverlay(session: Session, by: number): void {
  const names = [null, ...session.overlays.map((overlay) => overlay.name)];
  const at = names.indexOf(session.look.overlay);
  session.store.set({ overlay: names[(Math.max(at, 0) + by + names.length) % names.length] ?? null });
}

function stillMenu(session: Session): Menu {
  const take = (scale: number): void => {
    menu.close();
    void saveStill(session, scale).catch(session.failed);
  };
  const sheet = el("div", {},
    button("As shown", "Still as large as shown", () => take(1), { class: "word" }),
    button("Twice as large", "Still twice as large", () => take(2), { class: "word" }));
  const menu = makeMenu("Still", "Save a picture of what is shown (K)", sheet);
  return menu;
}

function filmMenu(session: Session, say: (text: string) => void): Menu {
  const sheet = movieSheet(session, say);
  return makeMenu("Film", "Save the range as mp4 from this camera", sheet);
}
