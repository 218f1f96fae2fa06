/** A film of the range from the current camera: the page draws every frame, the server encodes. */

import * as api from "./api";
import { button, el } from "./dom";
import { blobOf, download, draw, fileName, untilHere, type Size } from "./picture";
import type { Session } from "./session";

const HEIGHTS: readonly number[] = [720, 1080];

export function movieSheet(session: Session, say: (text: string) => void): HTMLElement {
  const size = el("select", { "aria-label": "Height of the film" }, ...HEIGHTS.map((height) => el("option", { value: String(height) }, `${height} lines`)));
  const bar = el("progress", { max: 1, value: 0, "aria-label": "Progress of the film", hidden: true });
  let abort: AbortController | null = null;
  const show = (busy: boolean): void => {
    begin.hidden = size.hidden = busy;
    stop.hidden = bar.hidden = !busy;
  };
  const begin = button("Save film", "Draw every frame of the range and save an mp4", () => void make(), { class: "word begin" });
  const stop = button("Cancel", "Leave the film", () => abort?.abort(), { class: "word", hidden: true });
  const make = async (): Promise<void> => {
    abort = new AbortController();
    show(true);
    try {
      const film = await drawFilm(session, sizeFor(session, Number(size.value)), abort.signal, (share) => (bar.value = share));
      download(film, fileName(session, "film.mp4"));
      say("The film is saved.");
    } catch (error) {
      if (api.isAbort(error)) say("The film was left.");
      else session.failed(error);
    }
    show(false);
  };
  return el("div", { class: "film" }, size, begin, bar, stop);
}

/** As wide as the views are; encoders want even numbers. */
function sizeFor(session: Session, height: number): Size {
  const { clientWidth, clientHeight } = session.painter.canvas;
  return { width: 2 * Math.round((height * clientWidth) / Math.max(clientHeight, 1) / 2), height };
}

async function drawFilm(session: Session, size: Size, signal: AbortSignal, progress: (share: number) => void): Promise<Blob> {
  const { player } = session;
  const { place: before } = player;
  const { follow } = session.look;
  player.play(false);
  session.store.set({ follow: false }); // a run that goes on must not move time meanwhile
  const { id } = await api.beginMovie(size.width, size.height, session.shot.rate);
  const canvas = el("canvas");
  const { first } = player.range;
  const last = Math.min(player.range.last, session.lastReady());
  try {
    for (let place = first; place <= last; place++) {
      player.seek(place);
      await untilHere(session, signal);
      draw(session, size, canvas);
      await api.addPicture(id, await blobOf(canvas, "image/jpeg", 0.94), signal);
      progress((place - first + 1) / (last - first + 1));
    }
    return await api.endMovie(id);
  } catch (error) {
    // The server holds few films; one that was left would keep its place there.
    void api.leaveMovie(id).catch(() => {});
    throw error;
  } finally {
    player.seek(before);
    session.store.set({ follow });
  }
}
