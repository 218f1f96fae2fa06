// What a gizmo, a mark on the time line and the buttons beside them make of the file's lists.
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const bundle = await build({ entryPoints: [join(here, "../src/direct/handles.ts")], bundle: true, write: false, format: "esm" });
const { add, handlesOf, listOf, pose, remove, retime } = await import(`data:text/javascript;base64,${Buffer.from(bundle.outputFiles[0].contents).toString("base64")}`);

const sheet = (kind, keys, more = {}) => ({ kind, keys, paths: [], begins: [], frames: [1, 2, 3], origin: [0, 0, 0], parts: [], ...more });

test("a key of phases is added to the one that goes on, counted from its beginning", () => {
  const phases = sheet("phases", [{ frames: 8, keys: [{ frame: 4, region: "head", move: [1, 0, 0] }] }, { frames: 8 }], { begins: [1, 9] });
  assert.deepEqual(add(phases, "foot", 6)[0].keys[1], { frame: 5, region: "foot", move: [0, 0, 0] });
  assert.deepEqual(add(phases, "foot", 10)[1], { frames: 8, keys: [{ frame: 1, region: "foot", move: [0, 0, 0] }] });
  assert.deepEqual(add(phases, "foot", 0)[0].keys[1].frame, -1); // before all of them: refused by the server, in its words
  assert.deepEqual(phases.keys[1], { frames: 8 });
});

test("where a phase begins a key is added to the end of the one before, but for a flight, which has none", () => {
  const standing = sheet("phases", [{ frames: 8 }, { frames: 8 }], { begins: [1, 9] });
  assert.deepEqual(add(standing, "foot", 9), [{ frames: 8, keys: [{ frame: 8, region: "foot", move: [0, 0, 0] }] }, { frames: 8 }]);
  const flown = sheet("phases", [{ frames: 8 }, { flight: {} }, { frames: 8 }], { begins: [1, 9, 13.5] });
  assert.deepEqual(add(flown, "foot", 13.5)[2].keys, [{ frame: 0, region: "foot", move: [0, 0, 0] }]); // refused, in the server's words
  assert.deepEqual(add(flown, "foot", 14)[2].keys, [{ frame: 0.5, region: "foot", move: [0, 0, 0] }]);
});

test("a key of phases is found where its phase has it, and moved in its phase's time", () => {
  const phases = sheet("phases", [{ keys: [] }, { keys: [{ frame: 4, region: "head", move: [1, 0, 0] }] }], { begins: [1, 9.4] });
  const [handle] = handlesOf(phases);
  assert.equal(handle.frame, 13.4);
  const list = listOf(phases, handle);
  retime(list, handle, 15);
  pose(list, handle, { move: [0.5, 0, 0], rotate: [0, 0, 0], scale: 1 });
  assert.deepEqual(list[1].keys, [{ frame: 5.6, region: "head", move: [0.5, 0, 0] }]);
});

test("a grip goes with its key, and a knot with its path, when it is the last", () => {
  const keys = [{ frame: 5, grips: [{ region: "foot" }, { region: "head" }] }, { frame: 9, grips: [{ region: "head" }] }];
  const body = sheet("shapes", keys, { paths: [{ points: [[1, 0, 0, 0], [9, 1, 0, 0]] }, { region: "head", points: [[3, 0, 1, 0]] }] });
  const without = (of) => {
    const handle = handlesOf(body).find(of), list = listOf(body, handle);
    remove(list, handle);
    return list;
  };
  assert.deepEqual(without(({ frame, region }) => frame === 5 && region === "foot"), [{ frame: 5, grips: [{ region: "head" }] }, keys[1]]);
  assert.deepEqual(without(({ frame }) => frame === 9), [keys[0]]);
  assert.deepEqual(without(({ title, frame }) => title === "path of whole body" && frame === 1), [{ points: [[9, 1, 0, 0]] }, body.paths[1]]);
  assert.deepEqual(without(({ title }) => title === "path of head"), [body.paths[0]]);
});
