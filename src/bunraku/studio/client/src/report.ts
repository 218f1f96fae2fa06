/** What the report says, sentence by sentence; how takes differ; the shot as it was run. */

import { button, el } from "./dom";
import { goTo } from "./hand";
import type { Kind, Sentence, State } from "./messages";
import { frameText } from "./numbers";
import { takeColour } from "./ramp";
import type { Session } from "./session";

const ORDER: readonly Kind[] = ["missed", "yielded", "met", "note"];
const HEADING: Record<Kind, string> = { missed: "Missed", yielded: "Yielded", note: "Notes", met: "Met" };

/** why there are no sentences */
const UNTOLD: Partial<Record<State, string>> = {
  running: "The report is written when the run ends; curves grow with it.",
  interrupted: "The run ended early, before its report was written; bunraku run SHOT --resume goes on with it.",
};

export function reportPage(session: Session): HTMLElement {
  const page = el("div", { class: "report" });
  const show = (): void => {
    const report = session.reports.get(session.look.active);
    const sentences = report?.sentences ?? [];
    if (report === undefined) page.replaceChildren();
    else if (sentences.length === 0)
      page.replaceChildren(el("p", { class: "quiet" }, UNTOLD[report.state] ?? "This take has no report."));
    else page.replaceChildren(...ORDER.flatMap((kind) => group(session, kind, sentences.filter((each) => each.kind === kind))));
  };
  session.on("report", show);
  session.store.watch(["active"], show);
  return page;
}

function group(session: Session, kind: Kind, sentences: readonly Sentence[]): HTMLElement[] {
  if (sentences.length === 0) return [];
  const items = sentences.map((sentence) => el("li", {}, said(session, sentence)));
  return [el("h2", { "data-kind": kind }, HEADING[kind], el("small", {}, String(sentences.length))), el("ul", { "data-kind": kind }, ...items)];
}

function said(session: Session, sentence: Sentence): HTMLElement {
  const { text, frame, region } = sentence;
  if (frame === null && region === null) return el("p", {}, text);
  const name = region === null ? null : (session.active?.regions[region] ?? `region ${region}`);
  const where = [frame === null ? null : `frame ${frameText(frame)}`, name].filter(Boolean).join(" · ");
  const face = el("span", {}, text, el("small", {}, where));
  return button(face, `${text} ${where}. Go there.`, () => goThere(session, sentence), { class: "sentence", title: "Go there" });
}

/** To the sentence's frame, its region chosen and in the middle of the picture. */
function goThere(session: Session, { frame, region }: Sentence): void {
  goTo(session, frame === null ? session.player.place : session.shot.at(frame));
  if (region === null) return;
  session.store.set({ region, regionTake: session.look.active });
  session.frameRegionWhenHere();
}

export function differencesPage(session: Session): HTMLElement {
  const page = el("div", { class: "differences" });
  const show = (): void => {
    const { differences, takes } = session;
    if (differences.length === 0) {
      page.replaceChildren(el("p", { class: "quiet" }, "These takes were made with the same settings."));
      return;
    }
    page.replaceChildren(
      ...differences.map(({ key, values }) =>
        el("section", {}, el("h3", {}, key), el("dl", {}, ...takes.flatMap((take, i) => {
          const dot = el("i", { class: "dot" });
          dot.style.background = takeColour(take.number);
          const value = values[i] ?? "";
          return [el("dt", { title: take.name }, dot, take.name), el("dd", { class: value === "" ? "quiet" : "" }, value === "" ? "not said" : value)];
        }))),
      ),
    );
  };
  session.on("takes", show);
  return page;
}

export function shotPage(session: Session): HTMLElement {
  const text = el("pre", { class: "shot", tabIndex: 0, "aria-label": "Shot file" });
  const show = (): void => {
    text.textContent = session.reports.get(session.look.active)?.shot ?? "";
  };
  session.on("report", show);
  session.store.watch(["active"], show);
  return text;
}
