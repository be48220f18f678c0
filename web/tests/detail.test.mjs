// SPDX-License-Identifier: Apache-2.0
// What the flame graph, the process tree and the comparison compute before anything is drawn.
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const web = join(dirname(fileURLToPath(import.meta.url)), "..");

async function load(contents) {
  const made = await build({
    stdin: { contents, resolveDir: join(web, "src"), loader: "ts" },
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
  });
  return import(`data:text/javascript;base64,${Buffer.from(made.outputFiles[0].text).toString("base64")}`);
}

const flame = await load(`
export { frameTree, nodeAt, pathTo } from "./flame/tree";
export { findFrames } from "./flame/search";
export { sameNode } from "./flame/place";
export { stepTo } from "./flame/move";
export { frameKind } from "./flame/colour";
export { fromTo, change } from "./flame/amounts";
export { treeRows } from "./sections/tree_rows";
export { sortedPlaces } from "./sortable";
export { heapWithin } from "./flame/stretch";
export { neighboursOf } from "./flame/neighbours";
`);

const frames = ["main (a.py:1)", "load (a.py:2)", "decode [x.so]", "keep (b.py:3)"];
const heap = {
  frames,
  stacks: [
    { frames: [0, 3], mb: 10, growth_mb: -5 },
    { frames: [0, 1, 2], mb: 30, growth_mb: 30 },
    { frames: [0, 1], mb: 10, growth_mb: 10 },
  ],
};

test("a frame is as wide as the growth of all stacks through it, and shrinking takes no width", () => {
  const tree = flame.frameTree(heap, "growth");
  assert.equal(tree.total, 40);
  assert.deepEqual([...tree.frame], [-1, 0, 1, 2, 3]); // The widest call first.
  assert.deepEqual([...tree.end], [5, 5, 4, 4, 5]);
  assert.deepEqual([...tree.w], [1, 1, 1, 0.75, 0]);
  assert.deepEqual([...tree.growth_mb], [35, 35, 40, 30, -5]);
});

test("widths by what is alive add up to the heap", () => {
  const tree = flame.frameTree(heap, "live");
  assert.equal(tree.total, 50);
  assert.deepEqual([...tree.w], [1, 1, 0.8, 0.6, 0.2]);
  assert.deepEqual([...tree.x], [0, 0, 0, 0, 0.8]);
  assert.deepEqual([...tree.nodeOfStack], [4, 3, 2]);
  assert.deepEqual(flame.pathTo(tree, 3), [1, 2, 3]);
});

test("a heap in which nothing grew has no width and no frame that is not a number", () => {
  const tree = flame.frameTree({ frames, stacks: [{ frames: [0], mb: 5, growth_mb: 0 }] }, "growth");
  assert.equal(tree.total, 0);
  assert.deepEqual([...tree.w], [0, 0]);
  assert.equal(flame.frameTree({ frames: [], stacks: [] }, "live").count, 1);
});

test("many stacks find their frames again when the table of nodes grows", () => {
  const stacks = Array.from({ length: 20000 }, (_, i) => ({ frames: [i % 7, i % 1000, i], mb: 1, growth_mb: 1 }));
  const tree = flame.frameTree({ stacks }, "live");
  assert.equal(tree.count, 1 + 7 + 7000 + 20000);
  assert.equal(tree.mb[0], 20000);
  assert.ok(Math.abs(tree.rows[1].reduce((sum, node) => sum + tree.w[node], 0) - 1) < 1e-9);
});

test("ten thousand nested calls do not exhaust the stack", () => {
  const tree = flame.frameTree({ stacks: [{ frames: Array.from({ length: 10000 }, () => 0), mb: 1, growth_mb: 1 }] }, "live");
  assert.equal(tree.count, 10001);
  assert.equal(tree.depth[10000], 10000);
});

test("the pointer finds the frame under it, and nothing beside it", () => {
  const tree = flame.frameTree(heap, "live");
  assert.equal(flame.nodeAt(tree, 2, 0.79), 2);
  assert.equal(flame.nodeAt(tree, 2, 0.81), 4);
  assert.equal(flame.nodeAt(tree, 3, 0.7), null);
  assert.equal(flame.nodeAt(tree, 9, 0.5), null);
});

test("a match below a match is not counted twice", () => {
  const tree = flame.frameTree(heap, "live");
  const found = flame.findFrames(tree, frames, "LO");
  assert.equal(found.share, 0.8);
  const nested = flame.findFrames(tree, frames, "a.py");
  assert.equal(nested.share, 1);
  assert.equal(nested.nodes, 2);
  assert.equal(flame.findFrames(tree, frames, "  "), null);
  assert.equal(flame.findFrames(tree, frames, "absent").share, 0);
});

test("arrow keys go to caller, call and neighbour, and stay within the zoomed frame", () => {
  const tree = flame.frameTree(heap, "live");
  assert.equal(flame.stepTo(tree, 0, 2, "right", 0.01), 4);
  assert.equal(flame.stepTo(tree, 0, 4, "left", 0.01), 2);
  assert.equal(flame.stepTo(tree, 2, 2, "right", 0.01), 2);
  assert.equal(flame.stepTo(tree, 0, 2, "out", 0), 1);
  assert.equal(flame.stepTo(tree, 2, 0, "in", 0), 1);
  assert.equal(flame.stepTo(tree, 0, 0, "out", 0), 0);
  assert.equal(flame.stepTo(tree, 0, 3, "in", 0), 3);
});

test("frames of Python are told from native ones by their file", () => {
  assert.equal(flame.frameKind("load (ImageFile.py:245)"), "python");
  assert.equal(flame.frameKind("_find_and_load (<frozen importlib._bootstrap>:1027)"), "python");
  assert.equal(flame.frameKind("PyList_New (listobject.c:179)"), "native");
  assert.equal(flame.frameKind("_start [python3.11]"), "native");
});

test("amounts of one unit name it once", () => {
  assert.equal(flame.fromTo(5430, 17400), "5.43 → 17.4 GB");
  assert.equal(flame.fromTo(900, 1200), "900 MB → 1.20 GB");
  assert.equal(flame.fromTo(null, 1200), "– → 1.20 GB");
  assert.equal(flame.change(-30), "−30.0 MB");
  assert.equal(flame.change(0), "0");
});

test("what has no value comes last, either way round, and equals keep their order", () => {
  const items = [{ v: 2 }, { v: null }, { v: 5 }, { v: 2 }];
  const places = (down) => flame.sortedPlaces(items, { by: "v", down }, (item) => item.v);
  assert.deepEqual(places(true), [2, 0, 3, 1]);
  assert.deepEqual(places(false), [0, 3, 2, 1]);
  assert.deepEqual(flame.sortedPlaces(items, null, () => 0), [0, 1, 2, 3]);
});

test("a stretch of the run has the stacks with a course, and counts the others", () => {
  const site = (stack, mb) => ({ title: "", state: "level", from_mb: 0, to_mb: 0, stack, x: [0, 10, 20], mb });
  const whole = { ...heap, from: 0, to: 20, from_mb: 0, to_mb: 50, others_mb: 1, sites: [site(1, [0, 10, 30]), site(null, [4, 4, 4])] };
  const { heap: part, leftOut } = flame.heapWithin(whole, 5, 15);
  assert.equal(leftOut, 2);
  assert.deepEqual(part.stacks, [{ frames: [0, 1, 2], mb: 20, growth_mb: 15, peak_mb: 20 }]);
  assert.deepEqual(part.sites.map(({ from_mb, to_mb, stack }) => [from_mb, to_mb, stack]), [[5, 20, 0], [4, 4, null]]);
  assert.deepEqual([part.from_mb, part.to_mb, part.from, part.to], [9, 24, 5, 15]);
  assert.equal(flame.heapWithin(whole, 25, 30), null); // Only forecast there.
});

test("the peak of a stretch is its moment at which all that is followed held most", () => {
  const site = (stack, mb) => ({ title: "", state: "level", from_mb: 0, to_mb: 0, stack, x: [0, 10, 20], mb });
  const whole = { ...heap, from: 0, to: 20, from_mb: 0, to_mb: 50, others_mb: 1, sites: [site(1, [0, 10, 30]), site(0, [4, 40, 4])] };
  const { heap: part } = flame.heapWithin(whole, 0, 15);
  assert.deepEqual([part.peak, part.peak_mb], [10, 50]);
  assert.deepEqual(part.stacks.map((stack) => stack.peak_mb), [10, 40]);
});

test("widths at the peak are what was alive then, also of what is gone", () => {
  const stacks = [{ frames: [0, 1], mb: 9, growth_mb: 4, peak_mb: 6 }, { frames: [0, 3], mb: 0, growth_mb: -2, peak_mb: 300 }];
  const tree = flame.frameTree({ stacks }, "peak");
  assert.equal(tree.total, 306);
  assert.deepEqual([...tree.frame], [-1, 0, 3, 1]);
  assert.deepEqual([...tree.mb], [306, 306, 300, 6]);
  assert.deepEqual([...tree.growth_mb], [299, 299, 298, 1]); // Since the beginning, when 2 and 5 MB were alive.
});

test("widths by temporary blocks count those, whatever is alive", () => {
  const stacks = [{ frames: [0, 1], mb: 9, growth_mb: 9, blocks: 5, temporary: 1 }, { frames: [0, 3], mb: 0, growth_mb: 0, blocks: 9, temporary: 3 }];
  const tree = flame.frameTree({ stacks }, "temporary");
  assert.equal(tree.total, 4);
  assert.deepEqual([...tree.frame], [-1, 0, 3, 1]);
  assert.deepEqual([...tree.w], [1, 1, 0.75, 0.25]);
});

test("callers and callees are summed over all stacks, and a call that calls itself counts once", () => {
  const stacks = [...heap.stacks, { frames: [0, 1, 1, 3], mb: 7, growth_mb: 0 }, { frames: [1, 2], mb: 3, growth_mb: 0 }];
  const around = flame.neighboursOf(stacks, 1, "live");
  assert.deepEqual(around.callers, [{ frame: 0, amount: 47 }, { frame: -1, amount: 3 }]);
  assert.deepEqual(around.callees, [{ frame: 2, amount: 33 }, { frame: -1, amount: 10 }, { frame: 3, amount: 7 }]);
  assert.deepEqual([around.through, around.whole], [50, 60]);
});

function job(workers, named) {
  const process = (id, parent, name, role, growth) => ({
    id, is_pid: true, parent, name, role, role_reason: null, first_x: 0, last_x: 100,
    first_mb: 10, last_mb: 10 + growth, peak_mb: 20, growth_mb: growth, share: 0.1,
  });
  const processes = [process(1, null, "python", "trainer", 5)];
  for (let i = 0; i < workers; ++i) processes.push(process(10 + i, 0, "python", "data worker", 1));
  return { x: [0, 100], clock: "step", processes, verdict: { verdict: "leak", process: named === null ? null : { pid: named } } };
}

test("many workers of one kind are one row, which opens", () => {
  const rows = flame.treeRows(job(12, null), new Set());
  assert.equal(rows.length, 2);
  assert.equal(rows[1].kind, "group");
  assert.equal(rows[1].growth_mb, 12);
  assert.equal(flame.treeRows(job(12, null), new Set([rows[1].key])).length, 14);
  assert.equal(flame.treeRows(job(4, null), new Set()).length, 5);
});

test("the process that grows is never folded away", () => {
  const rows = flame.treeRows(job(12, 13), new Set());
  assert.deepEqual(rows.map((row) => row.kind), ["process", "process", "group"]);
  assert.equal(rows[1].growing, true);
  assert.equal(rows[2].members.length, 11);
});

test("parents that go round in a ring are still shown, once each", () => {
  const run = job(1, null);
  run.processes[0].parent = 1;
  assert.equal(flame.treeRows(run, new Set()).length, 2);
});

test("the reader stays at the same frame when the widths change", () => {
  const live = flame.frameTree(heap, "live");
  const growth = flame.frameTree({ frames, stacks: [{ frames: [0, 3], mb: 1, growth_mb: 90 }, ...heap.stacks] }, "growth");
  const node = flame.sameNode(live, frames, growth, frames, 3); // main, load, decode
  assert.deepEqual(flame.pathTo(growth, node).map((at) => frames[growth.frame[at]]), frames.slice(0, 3));
  assert.equal(flame.sameNode(live, frames, flame.frameTree({ stacks: [] }, "live"), [], 3), null);
});

test("helpers that came and went are one row at the end, with what they started", () => {
  const run = job(2, null);
  const helper = (id, parent) => ({ ...run.processes[1], id, parent, name: `sh ${id}`, role: "wrapper", last_x: 3, peak_mb: 0.2, growth_mb: 0 });
  run.processes.push(helper(50, 0), helper(51, 3), helper(52, 0));
  const rows = flame.treeRows(run, new Set());
  assert.deepEqual(rows.map((row) => row.kind), ["process", "process", "process", "group"]);
  assert.equal(rows[3].brief, true);
  assert.equal(rows[3].members.length, 3);
  const opened = flame.treeRows(run, new Set([rows[3].key]));
  assert.equal(opened.length, 7);
  assert.deepEqual(opened.slice(4).map((row) => row.depth), [2, 3, 2]);
});
