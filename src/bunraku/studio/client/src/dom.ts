/** Elements made in one line. */

type Child = Node | string | null;

/** An element with properties (`class`, `aria-…` and `data-…` as attributes, the rest as they are called) and children. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Record<string, unknown> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (key === "class") element.className = String(value);
    else if (key.startsWith("aria-") || key.startsWith("data-") || key === "role" || key === "for")
      element.setAttribute(key, String(value));
    else Reflect.set(element, key, value);
  }
  for (const child of children) if (child !== null) element.append(child);
  return element;
}

/** A name that holds the words to be seen, so that who speaks to the page can say them. */
export function nameFor(face: Node | string, label: string): string {
  const words = (typeof face === "string" ? face : (face.firstChild?.textContent ?? "")).trim();
  return label.toLowerCase().includes(words.toLowerCase()) ? label : `${words}: ${label}`;
}

/** A button that shows a sign or a word and says in full what it does. */
export function button(
  face: Node | string,
  label: string,
  act: () => void,
  properties: Record<string, unknown> = {},
): HTMLButtonElement {
  const made = el("button", { type: "button", title: label, "aria-label": nameFor(face, label), ...properties }, face);
  made.addEventListener("click", act);
  return made;
}

/** A line drawing on a 16 × 16 field. */
export function icon(path: string, filled = false): SVGSVGElement {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  svg.classList.add("icon");
  const line = document.createElementNS(space, "path");
  line.setAttribute("d", path);
  if (filled) line.classList.add("filled");
  svg.append(line);
  return svg;
}

export const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);

/** A share from 0 to 1 in thousandths, so that a link says it whole. */
export const roundShare = (share: number): number => Math.round(1000 * clamp(share, 0, 1)) / 1000;

/** Calls `act` with the size of an element whenever it changes. */
export function onResize(element: Element, act: (width: number, height: number) => void): void {
  new ResizeObserver(([entry]) => {
    if (entry) act(entry.contentRect.width, entry.contentRect.height);
  }).observe(element);
}

/** A pointer held down on an element: where it goes, as shares of the element's width. */
export function dragged(element: HTMLElement, act: (share: number, event: PointerEvent) => void): void {
  const report = (event: PointerEvent): void => {
    const box = element.getBoundingClientRect();
    act((event.clientX - box.left) / Math.max(box.width, 1), event);
  };
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    element.setPointerCapture(event.pointerId);
    report(event);
  });
  element.addEventListener("pointermove", (event) => {
    if (element.hasPointerCapture(event.pointerId)) report(event);
  });
}
