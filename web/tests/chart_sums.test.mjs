// SPDX-License-Identifier: Apache-2.0
// What the charts compute before anything is drawn.
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const web = join(dirname(fileURLToPath(import.meta.url)), "..");

async function load(contents) {
  const made = await build({
    stdin: { contents, resolveDir: join(web, "src", "chart"), loader: "ts" },
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
  });
  return import(`data:text/javascript;base64,${Buffer.from(made.outputFiles[0].text).toString("base64")}`);
}

const chart = await load(`
export { axisOf, between, hasBoth, lastNotAbove, nearest } from "./axis";
export { extent, linePath } from "./layers";
export { edges, partAt, wholePeak } from "./stack";
export { processNames, processParts } from "./process_parts";
export { weightParts } from "./weights";
export { stretches } from "./verdict_strip";
export { amountLabels, clockTime, timeLabels } from "./units";
`);

class RecordedPath {
  points = [];
  moveTo(x, y) {
    this.points.push([x, y]);
  }
  lineTo(x, y) {
    this.points.push([x, y]);
  }
}
globalThis.Path2D = RecordedPath;

const view = (from, to, width) => ({
  from,
  to,
  width,
  px: 1,
  x: (at) => ((at - from) / (to - from)) * width,
  y: (value) => value,
});

test("A line denser than the pixels keeps every extreme", () => {
  const xs = Array.from({ length: 100000 }, (_, i) => i);
  const ys = xs.map((i) => (i === 54321 ? 900 : i === 77777 ? -900 : Math.sin(i)));
  const { points } = chart.linePath(view(0, 99999, 1000), xs, ys);
  assert.ok(points.length < 5000);
  assert.ok(points.some(([, y]) => y === 900));
  assert.ok(points.some(([, y]) => y === -900));
});

test("A line that is zoomed into is drawn to the edges of the view", () => {
  const { points } = chart.linePath(view(4, 6, 1000), [0, 5, 10], [0, 50, 100]);
  assert.deepEqual(points, [
    [-2000, 0],
    [500, 50],
    [3000, 100],
  ]);
});

test("A missing value counts neither as low nor as high", () => {
  assert.deepEqual(chart.extent([0, 1, 2, 3], [5, null, 9, 1], 0, 2), [5, 9]);
  assert.equal(chart.extent([0, 1], [null, null], 0, 1), null);
});

const clocked = { clock: "step", x: [10, 20, 30], time_s: [0, 100, 400] };

test("By time a step stands where its sample was taken, a forecast at the last pace", () => {
  const axis = chart.axisOf(clocked, true);
  assert.equal(axis.place(25), 250);
  assert.equal(axis.clock(250), 25);
  assert.equal(axis.place(40), 700);
});

test("There is a choice of axis only where both clocks are known", () => {
  assert.equal(chart.hasBoth(clocked), true);
  assert.equal(chart.hasBoth({ ...clocked, time_s: null }), false);
  assert.equal(chart.hasBoth({ ...clocked, clock: "second" }), false);
  assert.equal(chart.hasBoth({ ...clocked, time_s: [null, 5, null] }), false);
});

test("Repeated moments are found at their last place", () => {
  assert.equal(chart.lastNotAbove([1, 1, 2, 2, 5], 2), 3);
  assert.equal(chart.nearest([1, 1, 2, 2, 5], 4), 4);
  assert.equal(chart.between([0, 10], [0, 100], 11), null);
});

test("A process that is away adds nothing and what lies above it sinks", () => {
  const tops = chart.edges(3, [{ values: [1, 1, 1] }, { values: [2, null, 2] }, { values: [4, 4, 4] }]);
  assert.deepEqual(
    tops.map((top) => [...top]),
    [
      [1, 1, 1],
      [3, 1, 3],
      [7, 5, 7],
    ],
  );
  assert.equal(chart.partAt(tops, 1, 2), 2);
  assert.equal(chart.wholePeak([0, 1, 2], tops, 0, 2), 7);
});

const process = (id, role) => ({ id, is_pid: true, name: "python", role, growth_mb: null });

test("Processes of one role are numbered, a role of one is not, none falls back to the pid", () => {
  const names = chart.processNames([
    process(1, "main"),
    process(2, "data worker"),
    process(3, "data worker"),
    process(4, null),
  ]);
  assert.deepEqual(names, ["main", "data worker 1", "data worker 2", "python (pid 4)"]);
});

test("The largest processes are named and the rest is summed, with what was already summed", () => {
  const lines = Array.from({ length: 20 }, (_, i) => ({
    group: "process",
    name: "python",
    process: i,
    mb: [i + 1, null],
  }));
  lines.push({ group: "process", name: "1,340 others", process: null, mb: [100, 50] });
  const parts = chart.processParts({
    x: [0, 1],
    lines,
    processes: lines.slice(0, 20).map((_, i) => process(i, "data worker")),
  });
  assert.equal(parts.length, 13);
  assert.equal(parts[0].peak, 20);
  const rest = parts[12];
  assert.equal(rest.name, "1348 others");
  assert.deepEqual(rest.values, [100 + 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8, 50]);
});

test("Weights add up to the whole with the small ones as one part per family", () => {
  const explanations = Array.from({ length: 9 }, (_, i) => ({ name: `e${i}`, words: `e${i}`, bounded: i < 5 }));
  const weights = [0.5, 0.2, 0.01, 0.01, 0.01, 0.2, 0.05, 0.01, 0.01];
  const parts = chart.weightParts({ explanations, replay: [{ weights }, { weights }] });
  assert.deepEqual(
    parts.map((part) => part.id),
    ["e0", "e1", "others true", "others false", "e6", "e5"],
  );
  assert.ok(Math.abs(parts.reduce((sum, part) => sum + part.final, 0) - 1) < 1e-9);
});

test("Neighbouring moments with one answer are one stretch that lasts to the next", () => {
  const moment = (x, verdict) => ({ x, verdict });
  const replay = [moment(1, "undecided"), moment(2, "undecided"), moment(5, "leak"), moment(8, "leak")];
  assert.deepEqual(chart.stretches({ x: [0, 10], replay }), [
    { word: "undecided", from: 1, to: 5 },
    { word: "leak", from: 5, to: 10 },
  ]);
});

test("An axis has one unit and no more decimals than its ticks need", () => {
  assert.deepEqual(chart.amountLabels([5000, 7500, 10000]), ["5.0 GB", "7.5 GB", "10.0 GB"]);
  assert.deepEqual(chart.amountLabels([0, 200, 400]), ["0 MB", "200 MB", "400 MB"]);
  assert.deepEqual(chart.timeLabels([0, 7200, 14400]), ["0 h", "2 h", "4 h"]);
  assert.deepEqual(chart.timeLabels([6900, 7200, 7500]), ["1:55 h", "2:00 h", "2:05 h"]);
  assert.equal(chart.clockTime(3725), "1:02:05 h");
});
