"use strict";
const tiles = [...document.querySelectorAll(".tile")];
const films = tiles.map((tile) => tile.querySelector("video")).filter((film) => film !== null);
const transport = document.querySelector(".transport");

// One film: it begins where the still is taken from, so that nothing jumps when the pointer comes.
let together = false;
const start = transport === null ? 0 : (transport.dataset.still - transport.dataset.first) / transport.dataset.rate;

function show(film, from) {
  film.preload = "auto";
  if (from !== undefined) film.currentTime = Math.min(from, film.duration || from);
  const there = () => film.classList.toggle("on", together || !film.paused); // the pointer may have left meanwhile
  film.addEventListener("seeked", there, { once: true });
  film.addEventListener("playing", there, { once: true });
}

function hide(film) {
  film.pause();
  film.classList.remove("on");
}

for (const tile of tiles) {
  const film = tile.querySelector("video");
  const light = (on) => {
    tile.classList.toggle("lit", on);
    document.querySelector(`tr[data-take="${tile.id}"]`)?.classList.toggle("lit", on);
  };
  const enter = () => {
    light(true);
    if (film === null || together) return;
    show(film, start);
    film.play().catch(() => {});
  };
  const leave = () => {
    light(false);
    if (film !== null && !together) hide(film);
  };
  for (const name of ["pointerenter", "focusin"]) tile.addEventListener(name, enter);
  for (const name of ["pointerleave", "focusout"]) tile.addEventListener(name, leave);
}

for (const row of document.querySelectorAll("tr[data-take]")) {
  const tile = document.getElementById(row.dataset.take);
  row.addEventListener("pointerenter", () => tile?.classList.add("lit"));
  row.addEventListener("pointerleave", () => tile?.classList.remove("lit"));
}

// All films at once, by one clock: the longest film's.
if (transport !== null && films.length > 0) {
  const play = document.getElementById("play");
  const scrub = document.getElementById("scrub");
  const told = document.getElementById("frame");
  const stills = told.textContent;
  const { rate, first } = transport.dataset;
  let clock = films[0];
  let playing = false;

  const tell = () => {
    const length = clock.duration || 0;
    if (length > 0 && !scrub.matches(":active")) scrub.value = String((1000 * clock.currentTime) / length);
    told.textContent = together ? `frame ${Math.floor(clock.currentTime * rate + Number(first) + 1e-6)}` : stills;
    if (playing) requestAnimationFrame(tell);
  };
  const load = () =>
    Promise.all(
      films.map(
        (film) =>
          new Promise((done) => {
            if (film.readyState >= 1) return done();
            film.addEventListener("loadedmetadata", done, { once: true });
            film.addEventListener("error", done, { once: true });
            film.preload = "auto";
            film.load();
          }),
      ),
    ).then(() => {
      clock = films.reduce((a, b) => ((b.duration || 0) > (a.duration || 0) ? b : a));
    });
  play.addEventListener("click", async () => {
    await load();
    playing = !playing;
    together = true;
    play.textContent = playing ? "Pause" : "Play all";
    const from = clock.currentTime;
    for (const film of films) {
      show(film, from);
      if (playing) film.play().catch(() => {});
      else film.pause();
    }
    tell();
  });
  scrub.addEventListener("input", async () => {
    await load();
    together = true;
    const at = (scrub.value / 1000) * (clock.duration || 0);
    for (const film of films) show(film, at);
    if (!playing) setTimeout(tell, 60);
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    playing = together = false;
    play.textContent = "Play all";
    for (const film of films) hide(film);
    tell();
  });
}

// A click on a heading sorts by it, a second one the other way; what a take does not have comes last.
const heads = [...document.querySelectorAll(".numbers thead th")];
const body = document.querySelector(".numbers tbody");
heads.forEach((head, column) => {
  head.querySelector("button").addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = (row) => row.children[column].dataset.by;
    const compare = (a, b) => {
      if (key(a) === "" || key(b) === "") return (key(a) === "") - (key(b) === "");
      const [x, y] = [Number(key(a)), Number(key(b))];
      const order = Number.isNaN(x) || Number.isNaN(y) ? key(a).localeCompare(key(b)) : x - y;
      return up ? order : -order;
    };
    body.append(...[...body.rows].sort(compare));
  });
});
