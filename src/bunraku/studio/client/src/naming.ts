/** What takes and views are called. */

import type { Take } from "./messages";
import { frameText } from "./numbers";
import type { Session } from "./session";
import type { View } from "./views";

/** The takes, those of one name told apart by the part of their folders that differs. */
export function distinct(takes: readonly Take[]): Take[] {
  return takes.map((take) => {
    const namesakes = takes.filter((other) => other.name === take.name).map((other) => other.folder.split(/[\\/]/));
    if (namesakes.length < 2) return take;
    const own = take.folder.split(/[\\/]/);
    const first = own.findIndex((word, i) => namesakes.some((words) => words[i] !== word));
    const last = own.length - 1 - [...own].reverse().findIndex((word, i) => namesakes.some((words) => words.at(-1 - i) !== word));
    // Folders that differ in nothing are one folder, opened twice.
    if (first < 0 || last >= own.length) return take;
    return { ...take, name: `${take.name} (${own.slice(Math.min(first, last), Math.max(first, last) + 1).join("/")})` };
  });
}

/** 'frame 12' where a view shows another frame than the time line's, as a take does before it begins and after it ends; else "". */
export function otherFrame(session: Session, view: View): string {
  const take = session.takeOf(view.take);
  const shown = take?.frames[session.placeIn(take)];
  return shown === undefined || Math.abs(shown - session.frameNumber) < 1e-6 ? "" : `frame ${frameText(shown)}`;
}
