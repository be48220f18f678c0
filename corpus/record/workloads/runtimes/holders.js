// SPDX-License-Identifier: Apache-2.0
// What a Node service holds. mode=ring: the last `limit` records; array: all. map: a Map with at
// most `limit` entries; map_all: without limit. once: listeners that are removed after `limit`
// steps; listeners: never. buffers: the last `limit` Buffers, outside of the heap; buffers_all:
// all. garbage: objects that die young, and the collector decides when. `count` items of `bytes`
// come at each step.
"use strict";
const { EventEmitter } = require("events");
const { Job } = require("./steps.js");

const job = new Job({ mode: "ring", limit: 100, count: 4, bytes: 1000 });
const text = (step, i) => `${step} ${i} `.padEnd(job.size(), "z" + i);
const all = job.mode.endsWith("_all") || job.mode === "array" || job.mode === "listeners";
const kept = [];
const map = new Map();
const bus = new EventEmitter();
bus.setMaxListeners(0);

const MODES = {
  // A record holds its own flat array of numbers, which lives in the heap.
  ring() { kept.push(new Array(Math.ceil(job.size() / 8)).fill(0.5)); },
  map(step, i) { map.set(`${step}:${i}`, Buffer.from(text(step, i)).toString("latin1")); },
  once() {
    const batch = new Float64Array(Math.ceil(job.size() / 8)).fill(1);
    const listener = () => batch.length;
    bus.on("batch", listener);
    kept.push(listener);
  },
  buffers() { kept.push(Buffer.alloc(job.size(), 0x5a)); },
  garbage(step, i) {
    for (let n = 0; n < 50; ++n) kept[n] = { n, text: text(step, i), list: [n, step] };
  },
};
const word = { array: "ring", listeners: "once" }[job.mode] ?? job.mode.replace("_all", "");

// Drops the oldest beyond the limit; says whether there was one.
function drop() {
  if (word === "map" && map.size > job.limit) return map.delete(map.keys().next().value);
  if (word === "garbage" || kept.length <= job.limit) return false;
  const oldest = kept.shift();
  if (word === "once") bus.off("batch", oldest);
  return true;
}

job.run((step) => {
  for (let i = 0; i < job.count; ++i) {
    MODES[word](step, i);
    if (all) job.leak(job.bytes);
    else if (drop()) job.growthEnds(step);
  }
  if (word === "garbage" && step > 30) job.growthEnds(step);
});
