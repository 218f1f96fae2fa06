/** The page to direct on: run and undo, the objects, and all that can be turned about them. */

import { button, el } from "../dom";
import type { Knob, ShotObject } from "../messages";
import { samePath, type Path } from "./desk";
import { Control, keyOf, nameOf, type Desking } from "./knob";
import { followsOrIs, rolePage } from "./rolepage";

/** groups that come first and are open */
const FIRST = ["material", "skin", "interior", "track"];
/** groups that name files, closed at first whatever they say */
const FILES = ["guide", "surface", "source", "output"];

export function directPage(at: Desking): HTMLElement {
  const sections = new Groups(at);
  const find = el("input", { type: "search", class: "find", placeholder: "Find a setting", "aria-label": "Find a setting" });
  find.addEventListener("input", () => sections.filter(find.value));
  return el("div", { class: "direct" }, head(at), objects(at), rolePage(at), find, sections.root);
}

/** Run, undo, redo; what a run does before there is something to be seen, and what is wrong with the file. */
function head({ desk }: Desking): HTMLElement {
  const run = button("Run", "Make a take of the shot as it is (Ctrl Enter)", () => void desk.run(), { class: "begin word" });
  const cancel = button("Cancel", "Stop the run", () => void desk.cancelRun(), { class: "cancel" });
  const undo = button("Undo", "Undo (Ctrl Z)", () => void desk.undo(), { class: "word" });
  const redo = button("Redo", "Redo (Ctrl Shift Z)", () => void desk.redo(), { class: "word" });
  const saying = el("p", { class: "saying", role: "status" });
  const problems = el("ul", { class: "problems", role: "alert" });
  desk.on(() => {
    const { sheet, news } = desk;
    run.disabled = news?.running === true || (sheet?.problems.length ?? 0) > 0;
    cancel.hidden = news?.running !== true || news.take !== null; // then its take has one
    undo.disabled = !sheet?.undo;
    redo.disabled = !sheet?.redo;
    undo.title = sheet?.undo ? `Undo: ${sheet.undo} (Ctrl Z)` : "Nothing to undo (Ctrl Z)";
    redo.title = sheet?.redo ? `Redo: ${sheet.redo} (Ctrl Shift Z)` : "Nothing to redo (Ctrl Shift Z)";
    saying.textContent = news?.saying ?? "";
    saying.classList.toggle("failed", news?.failed === true);
    problems.replaceChildren(...(sheet?.problems ?? []).map((problem) => el("li", {}, problem)));
  });
  return el("div", { class: "acts" }, el("div", {}, run, cancel, el("span", { class: "space" }), undo, redo), saying, problems);
}

function objects({ desk }: Desking): HTMLElement {
  const list = el("div", { class: "objects", role: "radiogroup", "aria-label": "Objects of the shot" });
  let listed = "";
  desk.on(() => {
    const all = desk.sheet?.objects ?? [];
    const now = JSON.stringify([all, desk.object]);
    if (now === listed) return;
    listed = now;
    const focused = list.contains(document.activeElement);
    list.replaceChildren(...all.map((object) => objectButton(object, samePath(object.path, desk.object), () => desk.choose(object.path))));
    if (focused) list.querySelector<HTMLElement>('[aria-checked="true"]')?.focus();
  });
  list.addEventListener("keydown", (event) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const all = desk.sheet?.objects ?? [];
    if (by === undefined || all.length === 0) return;
    event.preventDefault();
    event.stopPropagation();
    const place = all.findIndex(({ path }) => samePath(path, desk.object));
    desk.choose(all[(place + by + all.length) % all.length]!.path);
  });
  return list;
}

function objectButton({ path, name, role, follows }: ShotObject, chosen: boolean, act: () => void): HTMLElement {
  const stage = path[0] === "stage" ? `${String(path[1])} · ` : "";
  const made = el("button", { type: "button", role: "radio", "aria-checked": String(chosen), tabIndex: chosen ? 0 : -1 },
    el("b", {}, stage, name), el("small", {}, follows === "" ? role : `${role}, ${followsOrIs(role)} ${follows}`));
  made.addEventListener("click", act);
  return made;
}

/** The knobs of the object that is chosen, then those of the whole shot, a section a table. */
class Groups {
  readonly root = el("div", { class: "groups" });
  private controls = new Map<string, Control>();
  private readonly opened = new Map<string, boolean>();
  private listed = "";
  private wanted = "";

  constructor(private readonly at: Desking) {
    at.desk.on(() => this.show());
  }

  filter(text: string): void {
    this.wanted = text.trim().toLowerCase();
    this.listed = "";
    this.show();
  }

  private show(): void {
    const knobs = this.chosen();
    const listed = JSON.stringify([this.at.desk.object, this.wanted, knobs.map(({ path, options, kind }) => [path, options, kind])]);
    if (listed !== this.listed) this.rebuild(knobs);
    else for (const knob of knobs) this.controls.get(keyOf(knob))?.show(knob);
    this.listed = listed;
  }

  private chosen(): readonly Knob[] {
    const { sheet, object } = this.at.desk;
    const stage = object?.[0] === "stage" ? object.slice(0, 2) : [];
    const mine = (sheet?.knobs ?? []).filter(({ path }) => beginsWith(path, object ?? []) || !isOfObject(path, stage));
    const wanted = this.wanted;
    const found = wanted === "" ? mine : mine.filter((knob) => `${keyOf(knob)} ${nameOf(knob)}`.toLowerCase().includes(wanted));
    return [...found.filter(({ path }) => beginsWith(path, object ?? [])), ...found.filter(({ path }) => !beginsWith(path, object ?? []))];
  }

  private rebuild(knobs: readonly Knob[]): void {
    const focus = document.activeElement?.closest<HTMLElement>(".knob")?.dataset["key"];
    this.controls = new Map(knobs.map((knob) => [keyOf(knob), new Control(this.at, knob)]));
    const groups = new Map<string, Knob[]>();
    for (const knob of knobs) {
      const title = this.titleOf(knob);
      groups.set(title, [...(groups.get(title) ?? []), knob]);
    }
    const rank = (title: string): number => (FIRST.includes(title) ? FIRST.indexOf(title) : FIRST.length);
    const inOrder = [...groups].sort(([a], [b]) => rank(a) - rank(b));
    this.root.replaceChildren(...inOrder.map(([title, members]) => this.section(title, members)));
    if (focus !== undefined) this.root.querySelector<HTMLElement>(`.knob[data-key="${CSS.escape(focus)}"] :is(input, select)`)?.focus();
  }

  private section(title: string, knobs: readonly Knob[]): HTMLElement {
    const said = knobs.some((knob) => knob.value !== null);
    const open = this.wanted !== "" || (this.opened.get(title) ?? ((said && !FILES.includes(title)) || FIRST.includes(title)));
    const section = el("details", { open }, el("summary", {}, title), ...knobs.map((knob) => this.controls.get(keyOf(knob))!.root));
    section.addEventListener("toggle", () => {
      if (this.wanted === "") this.opened.set(title, section.open);
    });
    return section;
  }

  /** Its table: 'track', 'guide · rig', 'physics · wind'. */
  private titleOf({ path }: Knob): string {
    const own = beginsWith(path, this.at.desk.object ?? []);
    const within = own ? path.slice((this.at.desk.object ?? []).length, -1) : path.slice(path[0] === "stage" ? 2 : 0, -1);
    if (within.length === 0) return own ? String(this.at.desk.object?.at(-1)) : "shot";
    return within.map((part) => (typeof part === "number" ? `${part + 1}` : part)).join(" · ");
  }
}

const beginsWith = (path: Path, start: Path): boolean => start.length > 0 && samePath(path.slice(0, start.length), start);

/** Whether a knob is an object's, or that of another stage. */
const isOfObject = (path: Path, stage: Path): boolean =>
  path[0] === "stage" ? !beginsWith(path, stage) || path[2] === "object" : path[0] === "object";
