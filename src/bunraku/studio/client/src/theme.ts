/** Light or dark: as the system says, or as someone chose. */

import type { Session } from "./session";
import { DARK, LIGHT } from "./views";
import type { Theme } from "./store";

const system = matchMedia("(prefers-color-scheme: dark)");

export const isDark = (theme: Theme): boolean => theme === "dark" || (theme === "auto" && system.matches);

export function followTheme(session: Session): void {
  const apply = (): void => {
    const dark = isDark(session.look.theme);
    document.documentElement.dataset["theme"] = dark ? "dark" : "light";
    session.painter.setBackdrop(dark ? DARK : LIGHT);
    session.invalidate();
    session.tell("takes");
  };
  system.addEventListener("change", apply);
  session.store.watch(["theme"], apply);
}

export function toggleTheme(session: Session): void {
  session.store.set({ theme: isDark(session.look.theme) ? "light" : "dark" });
}
