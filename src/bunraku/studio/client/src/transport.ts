/** Play, step, loop, and which frame it is. */

import { button, el, icon } from "./dom";
import { goTo, playOrPause, step, toFirst, toLast } from "./hand";
import type { Menu } from "./menu";
import { frameText, numberIn } from "./numbers";
import type { Session } from "./session";

const PLAY = "M4 2.5v11l9-5.5z";
const LOOP = "M3 7.5V7a3 3 0 0 1 3-3h6M10 1.8 12.2 4 10 6.2M13 8.5V9a3 3 0 0 1-3 3H4M6 9.8 3.8 12 6 14.2";
const PAUSE = "M4 2.5h3v11H4zM9 2.5h3v11H9z";

export function makeTransport(session: Session, curves: Menu): HTMLElement {
  const { player } = session;
  const play = button(icon(PLAY, true), "Play (space)", () => playOrPause(session), { class: "play" });
  const loop = button(icon(LOOP), "Loop (L)", () => player.setLoop(!player.loop));
  const follow = button("Follow", "Follow the latest frame of a run (J)", () => session.store.set({ follow: !session.look.follow }), { class: "word" });
  const rate = el("output", { class: "rate", "aria-label": "Frames per second", "aria-live": "off" });
  const range = el("span", { class: "range" });
  const chart = button(icon("M2 2v12h12M4 10l3-4 3 2 4-5"), "Show curves (C)", () => session.store.set({ chart: !session.look.chart }));
  const whole = button("whole", "The whole range: every frame", () => player.setRange(0, player.count - 1), { class: "link" });
  const bar = el("div", { class: "transport", role: "group", "aria-label": "Playback" },
    button(icon("M4 3v10M13 3 6 8l7 5z", true), "First frame (Home)", () => toFirst(session)),
    button(icon("M11 3 5 8l6 5z", true), "One frame back (←)", () => step(session, -1)),
    play,
    button(icon("M5 3l6 5-6 5z", true), "One frame on (→)", () => step(session, 1)),
    button(icon("M12 3v10M3 3l7 5-7 5z", true), "Last frame (End)", () => toLast(session)),
    loop, rate, el("span", { class: "space" }), range, whole, follow, chart, curves.root);
  const show = (): void => {
    play.replaceChildren(icon(player.playing ? PAUSE : PLAY, true));
    play.setAttribute("aria-label", player.playing ? "Pause (space)" : "Play (space)");
    loop.setAttribute("aria-pressed", String(player.loop));
    const { first, last } = player.range;
    const part = first > 0 || last < player.count - 1;
    const numbers = session.shot.numbers;
    range.textContent = numbers.length === 0 ? "" : `${part ? "range " : ""}${frameText(numbers[first] ?? 0)}–${frameText(numbers[last] ?? 0)}`;
    whole.hidden = !part;
  };
  player.onChange(show);
  session.on("takes", () => {
    show();
    follow.hidden = !session.takes.some((take) => take.state === "running");
  });
  session.store.watch(["follow", "chart"], (look) => {
    follow.setAttribute("aria-pressed", String(look.follow));
    chart.setAttribute("aria-pressed", String(look.chart));
  });
  window.setInterval(() => sayRate(session, rate), 250);
  return bar;
}

/** Pictures a second while it plays, and the rate of the shot; or that frames are awaited. */
function sayRate(session: Session, out: HTMLOutputElement): void {
  const { player, shot } = session;
  const waits = player.playing && !session.isThere(Math.min(player.place + 1, session.lastReady()));
  const rate = `${Math.round(shot.rate * 100) / 100} fps`;
  const text = waits ? "waiting for frames" : player.playing && player.fps > 0 ? `${player.fps.toFixed(1)} of ${rate}` : rate;
  if (out.textContent !== text) out.textContent = text;
  out.classList.toggle("behind", player.playing && player.fps > 0 && player.fps < 0.8 * shot.rate);
}

/** The frame's number, which can be typed over. */
export function makeFrameField(session: Session): HTMLElement {
  const field = el("input", { class: "frame", type: "text", inputMode: "decimal", "aria-label": "Frame number", title: "Frame number of the shot" });
  const show = (): void => {
    if (document.activeElement !== field) field.value = frameText(session.frameNumber);
  };
  field.addEventListener("change", () => {
    const frame = numberIn(field.value);
    if (Number.isFinite(frame)) goTo(session, session.shot.at(frame));
    field.value = frameText(session.frameNumber);
  });
  field.addEventListener("blur", show);
  field.addEventListener("focus", () => field.select());
  session.on("frame", show);
  session.on("takes", show);
  return el("label", { class: "gutter" }, el("span", {}, "frame"), field);
}
