/** A button that opens a small sheet beside it. */

import { el, nameFor } from "./dom";

export interface Menu {
  readonly root: HTMLElement;
  readonly opener: HTMLButtonElement;
  close(): void;
}

export function makeMenu(face: Node | string, label: string, content: HTMLElement, opened: () => void = () => {}): Menu {
  const opener = el("button", { type: "button", title: label, "aria-label": nameFor(face, label), "aria-expanded": "false" }, face);
  content.classList.add("sheet");
  content.hidden = true;
  const root = el("div", { class: "menu" }, opener, content);
  const show = (on: boolean): void => {
    content.hidden = !on;
    opener.setAttribute("aria-expanded", String(on));
    if (!on) return;
    opened();
    content.querySelector<HTMLElement>("button:not([disabled]), input, select")?.focus();
  };
  opener.addEventListener("click", () => show(content.hidden === true));
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || content.hidden) return;
    event.stopPropagation();
    show(false);
    opener.focus();
  });
  document.addEventListener("pointerdown", (event) => {
    if (!content.hidden && !root.contains(event.target as Node)) show(false);
  });
  root.addEventListener("focusout", (event) => {
    if (event.relatedTarget instanceof Node && !root.contains(event.relatedTarget)) show(false);
  });
  return { root, opener, close: () => show(false) };
}
