/** The side panel: takes and how far they are; what the report says; how takes differ; the shot. */

import * as api from "./api";
import { button, el } from "./dom";
import { activate } from "./hand";
import type { State, Take } from "./messages";
import { duration } from "./numbers";
import { takeColour } from "./ramp";
import { differencesPage, reportPage, shotPage } from "./report";
import type { Session } from "./session";

const MEANT: Record<State, string> = {
  running: "A run writes into this take.",
  finished: "Every frame was made.",
  stopped: "Physics stopped it; the frames before are kept.",
  interrupted: "Its run ended early; bunraku run SHOT --resume goes on.",
};

export interface Panel {
  readonly root: HTMLElement;
  /** Adds a page behind the others, or as the first, which is then shown; `seen` is told when it is, and is not any more. */
  addPage(name: string, page: HTMLElement, first?: boolean, seen?: (on: boolean) => void): void;
}

export function makePanel(session: Session): Panel {
  const list = el("ul", { class: "takes" });
  const { root: tabbed, addPage } = pages(session);
  const panel = el("aside", { class: "panel", "aria-label": "Takes and report" }, list, tabbed);
  const cards = new Map<number, Card>();
  const show = (): void => {
    for (const take of session.takes) {
      let card = cards.get(take.number);
      if (card === undefined) {
        card = new Card(session, take);
        cards.set(take.number, card);
        list.append(card.root);
      }
      card.show(session.takes[take.number] ?? take);
    }
  };
  session.on("takes", show);
  session.store.watch(["active", "shown", "mode"], show);
  session.store.watch(["panel"], (look) => document.body.classList.toggle("without-panel", !look.panel));
  return { root: panel, addPage };
}

class Card {
  readonly root = el("li");
  private readonly badge = el("span", { class: "badge" });
  private readonly facts = el("small");
  private readonly bar = el("progress", { max: 1, value: 0, "aria-label": "Progress of the run" });
  private readonly left = el("small");
  private readonly choose: HTMLButtonElement;
  private readonly box: HTMLInputElement;
  private readonly stop: HTMLButtonElement;
  private readonly run: HTMLElement;
  private asked = false;

  constructor(
    private readonly session: Session,
    private readonly take: Take,
  ) {
    const dot = el("i", { class: "dot" });
    dot.style.background = takeColour(take.number);
    this.choose = button(el("span", {}, dot, take.name), `Show ${take.name}`, () => activate(session, take.number), { class: "choose", title: take.folder });
    this.box = el("input", { type: "checkbox", "aria-label": `${take.name} in the grid`, title: "In the grid" });
    this.box.addEventListener("change", () => this.toggle());
    this.stop = button("Cancel", `Stop the run of ${take.name} after the frame it is at`, () => void this.cancel(), { class: "cancel" });
    this.run = el("div", { class: "run" }, this.bar, el("div", {}, this.left, this.stop));
    this.root.append(el("div", { class: "head" }, this.box, this.choose, this.badge), this.facts, this.run);
  }

  show(take: Take): void {
    const { session } = this;
    const { look } = session;
    const several = session.takes.length > 1;
    this.root.classList.toggle("active", several && look.active === take.number);
    this.choose.setAttribute("aria-pressed", String(look.active === take.number));
    this.box.hidden = !several;
    this.box.checked = look.shown.includes(take.number);
    this.badge.textContent = take.state;
    this.badge.title = MEANT[take.state];
    this.badge.dataset["state"] = take.state;
    const made = take.ready < take.frames.length ? `${take.ready} of ${take.frames.length} frames` : `${take.frames.length} frames`;
    this.facts.textContent = `${take.vertices.toLocaleString("en")} vertices · ${made}`;
    this.showRun(take);
  }

  private showRun(take: Take): void {
    const news = this.session.news.get(take.number);
    this.run.hidden = take.state !== "running";
    if (take.state !== "running") {
      this.asked = false;
      return;
    }
    this.bar.value = news === undefined ? take.ready / take.frames.length : news.done / Math.max(news.count, 1);
    const time = news?.seconds_left ?? null;
    this.left.textContent = this.asked ? "stops after this frame" : time === null ? "time left unknown" : `about ${duration(time)} left`;
    this.stop.hidden = news?.can_cancel !== true;
    this.stop.disabled = this.asked;
  }

  private toggle(): void {
    const { store, look } = this.session;
    const shown = this.box.checked ? [...look.shown, this.take.number].sort((a, b) => a - b) : look.shown.filter((each) => each !== this.take.number);
    store.set({ shown: shown.length > 0 ? shown : look.shown });
    this.show(this.session.takes[this.take.number] ?? this.take);
  }

  private async cancel(): Promise<void> {
    this.asked = true;
    this.show(this.session.takes[this.take.number] ?? this.take);
    try {
      await api.cancel(this.take.number);
    } catch (error) {
      this.asked = false;
      this.session.failed(error);
    }
  }
}

/** Tabs: arrow keys go from one to the next. */
function pages(session: Session): Panel {
  const tabs = el("div", { class: "tabs", role: "tablist", "aria-label": "About the take" });
  const body = el("div", { class: "page", role: "tabpanel", id: "page", tabIndex: 0 });
  const all = (): HTMLButtonElement[] => [...tabs.querySelectorAll("button")];
  let leave = (): void => undefined;
  const addPage = (name: string, page: HTMLElement, first = false, seen?: (on: boolean) => void): void => {
    const tab = el("button", { type: "button", role: "tab", "aria-controls": "page" }, name);
    tab.addEventListener("click", () => select(tab, page, seen));
    if (first) tabs.prepend(tab);
    else tabs.append(tab);
    if (first || all().length === 1) select(tab, page, seen);
    else mark(tabs.querySelector<HTMLElement>('[aria-selected="true"]') ?? tab);
  };
  const mark = (chosen: HTMLElement): void => {
    for (const each of all()) {
      each.setAttribute("aria-selected", String(each === chosen));
      each.tabIndex = each === chosen ? 0 : -1;
    }
  };
  const select = (tab: HTMLElement, page: HTMLElement, seen?: (on: boolean) => void): void => {
    mark(tab);
    leave();
    leave = () => seen?.(false);
    body.replaceChildren(page);
    seen?.(true);
    body.setAttribute("aria-label", tab.textContent ?? "");
  };
  tabs.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined) return;
    event.stopPropagation();
    const seen = all().filter((tab) => !tab.hidden);
    const next = seen[(seen.indexOf(event.target as HTMLButtonElement) + by + seen.length) % seen.length];
    next?.focus();
    next?.click();
  });
  addPage("Report", reportPage(session));
  addPage("Differences", differencesPage(session));
  addPage("Shot", shotPage(session));
  const differences = all()[1]!;
  session.on("takes", () => (differences.hidden = session.takes.length < 2));
  return { root: el("div", { class: "pages" }, tabs, body), addPage };
}
