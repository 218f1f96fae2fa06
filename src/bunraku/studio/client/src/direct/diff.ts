/** What directing has made of the shot file, as a diff to read; and the file itself. */

import { el } from "../dom";
import type { Desk } from "./desk";

export function changesPage(desk: Desk): HTMLElement {
  const list = el("pre", { class: "diff", tabIndex: 0, "aria-label": "What was changed in the shot file" });
  const quiet = el("p", { class: "quiet" });
  let shown: string | null = null;
  desk.on(() => {
    const diff = desk.sheet?.diff ?? "";
    if (diff === shown) return;
    shown = diff;
    quiet.textContent = diff === "" ? "Nothing was changed since this was opened." : `${desk.sheet?.file ?? ""}, since it was opened`;
    list.replaceChildren(...diff.split("\n").filter((line) => !line.startsWith("---") && !line.startsWith("+++")).map((line) => el("span", { class: kindOf(line) }, `${line}\n`)));
  });
  return el("div", { class: "changes" }, quiet, list);
}

const kindOf = (line: string): string => ({ "+": "added", "-": "removed", "@": "place" })[line[0] ?? ""] ?? "";
