/** The object that is chosen: its role, and what it goes after. */

import * as api from "../api";
import { el } from "../dom";
import type { OfferedMotion, Role, ShotObject } from "../messages";
import { samePath, type Path } from "./desk";
import type { Desking } from "./knob";

const ROLES: Readonly<Record<Role, string>> = {
  shell: "is simulated and obeys its guide",
  obstacle: "stands in the way and moves as its source does",
  body: "is elastic, and steered by key shapes and paths",
  plan: "is elastic, and its motion is planned from a few keys",
  wrinkle: "is soft, and its skin wrinkles",
};
const TRADED = "Of shells there can be one: an obstacle that becomes it trades roles with the one that was. What only the former role understands is taken out of the file.";
const GROUPS: Readonly<Record<OfferedMotion["group"], string>> = {
  now: "", object: "As another object", stage: "Stages", take: "Finished takes", file: "Files",
};

/** Obstacles and bodies are what they name, shells go after it. */
export const followsOrIs = (role: string): string => (role === "shell" || role === "wrinkle" ? "follows" : "is");

export function rolePage({ session, desk, say }: Desking): HTMLElement {
  const role = el("select", { id: "role" }, ...Object.keys(ROLES).map((one) => el("option", { value: one }, one)));
  const motion = el("select", { id: "motion" });
  const verb = el("label", { for: "motion" });
  const about = el("p", { class: "doc" });
  const root = el("div", { class: "roles" },
    el("div", { class: "knob said" }, el("label", { for: "role" }, "role"), el("div", { class: "turn" }, role), about),
    el("div", { class: "knob said" }, verb, el("div", { class: "turn" }, motion)));
  let offered: readonly OfferedMotion[] = [];
  let asked = "";

  const chosen = (): ShotObject | null => desk.sheet?.objects.find(({ path }) => samePath(path, desk.object)) ?? null;
  const show = (): void => {
    const object = chosen();
    root.hidden = object === null;
    if (object === null) return;
    if (role.value !== object.role) role.value = object.role;
    about.textContent = `${object.name} ${ROLES[object.role as Role] ?? ""}. ${TRADED}`;
    verb.textContent = followsOrIs(object.role);
    const now = offered[0]?.group === "now" ? "0" : "";
    if (motion.value !== now) motion.value = now;
  };
  const take = (motions: readonly OfferedMotion[]): void => {
    const same = JSON.stringify(motions) === JSON.stringify(offered);
    offered = motions;
    if (!same) motion.replaceChildren(...optionsOf(motions));
    show();
  };
  const offer = async (): Promise<void> => {
    const object = chosen();
    if (object === null) return;
    try {
      const { motions } = await api.motions(object.path);
      if (!samePath(object.path, desk.object)) return;
      take(motions);
    } catch (error) {
      if (!api.isGone(error)) session.failed(error);
    }
  };
  desk.on(() => {
    show();
    const object = chosen();
    const now = JSON.stringify([object, desk.news?.running ?? false]);
    if (now === asked) return;
    asked = now;
    if (object !== null) take(object.follows === "" ? [] : [{ told: {}, title: object.follows, group: "now" }]); // until all are here
    void offer();
  });
  role.addEventListener("change", () => void turn(role.value as Role));
  const turn = async (to: Role): Promise<void> => {
    const path: Path = desk.object ?? [];
    const edited = await desk.change((revision) => api.playRole({ revision, path, role: to, tab: desk.tab }));
    if (edited !== null && edited.diff !== "") say(`${edited.sheet.undo}.`);
    show();
  };
  motion.addEventListener("change", () => void follow(offered[Number(motion.value)]));
  const follow = async (one: OfferedMotion | undefined): Promise<void> => {
    const path: Path = desk.object ?? [];
    if (one === undefined || one.group === "now") return;
    const edited = await desk.change((revision) => api.followMotion({ revision, path, told: one.told, tab: desk.tab }));
    if (edited === null) await offer(); // a file of several meshes is offered mesh by mesh then
    show();
  };
  return root;
}

/** What an object goes after now, then everything else under headings. */
function optionsOf(motions: readonly OfferedMotion[]): HTMLElement[] {
  const made = new Map<string, HTMLElement[]>();
  motions.forEach(({ title, group }, k) => made.set(group, [...(made.get(group) ?? []), el("option", { value: String(k) }, title)]));
  return [...made].flatMap(([group, options]) => group === "now" ? options : [el("optgroup", { label: GROUPS[group as OfferedMotion["group"]] }, ...options)]);
}
