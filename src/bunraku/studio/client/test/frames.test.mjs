// Frames fetched ahead, against a server made of a function: memory stays bounded, the newest wish wins, nothing is asked twice.
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const VERTICES = 1000;
const here = dirname(fileURLToPath(import.meta.url));
const bundle = await build({ entryPoints: [join(here, "../src/frames.ts")], bundle: true, write: false, format: "esm" });
globalThis.location = { search: "?token=x" };
const { Frames } = await import(`data:text/javascript;base64,${Buffer.from(bundle.outputFiles[0].contents).toString("base64")}`);

const pause = (time) => new Promise((done) => setTimeout(done, time));

/** A parcel of frames from … to as the server makes it. */
function parcel(from, count) {
  const size = 6 * VERTICES;
  const place = (k) => ({ name: "points", type: "u2", shape: [VERTICES, 3], offset: k * size, low: [0, 0, 0], high: [1, 1, 1] });
  const entries = Array.from({ length: count }, (_, k) => ({ frame: from + k, arrays: [place(k)] }));
  const header = new TextEncoder().encode(JSON.stringify({ entries }));
  const start = Math.ceil((8 + header.length) / 8) * 8;
  const bytes = new ArrayBuffer(start + count * size);
  const head = new DataView(bytes);
  head.setUint32(0, 0x31504b42, true);
  head.setUint32(4, header.length, true);
  new Uint8Array(bytes).set(header, 8);
  return bytes;
}

/** A server that answers after a moment, and what it was asked. */
function serve() {
  const told = { asked: [], left: 0 };
  globalThis.fetch = async (path, { signal }) => {
    const query = new URLSearchParams(path.split("?")[1]);
    const [from, count] = [Number(query.get("from")), Number(query.get("count"))];
    told.asked.push([from, count]);
    await pause(1);
    if (signal.aborted) {
      told.left++;
      throw new DOMException("left", "AbortError");
    }
    return { ok: true, arrayBuffer: async () => parcel(from, count) };
  };
  return told;
}

function framesOf(ready, budget) {
  const take = { number: 0, ready, vertices: VERTICES, guide_vertices: 0, guide_faces: 0, obstacle_faces: 0 };
  return new Frames(take, budget, () => {}, (error) => assert.fail(error));
}

const wish = (place, last) => ({ place, first: 0, last, loop: true });

test("playing through more than memory holds stays within it", async () => {
  serve();
  const budget = 1e6;
  const frames = framesOf(2000, budget);
  for (let place = 0; place < 2000; place += 3) {
    frames.want(wish(place, 1999));
    await pause(1);
    assert.ok(frames.heldBytes <= budget);
  }
  assert.ok(frames.count > 50);
});

test("the newest wish wins: what nobody waits for any more is left", async () => {
  const told = serve();
  const frames = framesOf(5000, 2e6);
  for (let i = 0; i < 40; i++) {
    frames.want(wish((i * 997) % 5000, 4999));
    await pause(0);
  }
  const last = (39 * 997) % 5000;
  await pause(50);
  assert.ok(frames.complete(last));
  assert.ok(told.left > 20, `${told.left} of ${told.asked.length} were left`);
  assert.deepEqual(told.asked.find(([from]) => from === last), [last, 1]); // alone, so that it comes at once
});

test("a take that fits is fetched once", async () => {
  const told = serve();
  const frames = framesOf(100, 1e7);
  frames.want(wish(40, 99));
  await pause(200);
  for (let place = 0; place < 100; place++) frames.want(wish(place, 99));
  await pause(50);
  assert.equal(told.asked.reduce((sum, [, count]) => sum + count, 0), 100);
  assert.equal(frames.count, 100);
});

test("a run that began anew is fetched anew; frames to come are not asked for", async () => {
  const told = serve();
  const frames = framesOf(30, 1e7);
  frames.want(wish(0, 99));
  await pause(100);
  assert.equal(frames.count, 30);
  frames.ready = 4;
  frames.want(wish(0, 99));
  await pause(50);
  assert.equal(frames.count, 4);
  assert.ok(told.asked.every(([from, count]) => from + count <= 30));
});
