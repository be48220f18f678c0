// SPDX-License-Identifier: Apache-2.0
// What the Node workloads share; the words are those of steps.py: `STEP n` at each step end, then
// one line of answer is awaited, and `DONE leaked=bytes ended=step` at the end.
"use strict";
const fs = require("fs");

class Job {
  constructor(defaults) {
    const shared = { steps: 200, epoch_steps: 0, batch: 1, seed: 1, model_mb: 40, noise_mb: 4,
                     pace_ms: 12 };
    Object.assign(this, shared, defaults);
    for (const pair of process.argv.slice(2)) {
      const [key, value] = pair.split("=");
      if (!(key in this)) throw new Error(`unknown parameter ${key}`);
      this[key] = typeof this[key] === "number" ? Number(value) : value;
    }
    this.state = this.seed * 2654435761 % 4294967296;
    this.model = [];
    for (let i = 0; i < this.model_mb; ++i) this.model.push(Buffer.alloc(1 << 20, 0x5a));
    this.prefetched = [];
    this.leaked = 0;
    this.ended = "never";
  }

  // Returns a number in [0, 1), the same at each run.
  random() {
    this.state = (this.state * 1664525 + 1013904223) % 4294967296;
    return this.state / 4294967296;
  }
  uniform(low, high) { return low + (high - low) * this.random(); }
  size() { return Math.max(1, Math.round(this.bytes * this.uniform(0.5, 1.5))); }
  leak(size) { this.leaked += size; }
  growthEnds(step) { if (this.ended === "never") this.ended = step; }

  // Makes the temporary objects of one step.
  train() {
    const size = Math.round(this.uniform(0.05, 0.5) * this.noise_mb * 1048576);
    this.prefetched.push(Buffer.alloc(size, 1));
    if (this.prefetched.length > 4) this.prefetched.shift();
    const records = [];
    for (let i = 0; i < this.uniform(100, 2000); ++i) {
      records.push({ loss: i * 0.5, tokens: [i, i] });
    }
    return records.length;
  }

  // Runs `work(step)` for each step.
  run(work) {
    const answer = Buffer.alloc(64);
    const pause = new Int32Array(new SharedArrayBuffer(4));
    for (let step = 1; step <= this.steps; ++step) {
      this.train();
      work(step);
      Atomics.wait(pause, 0, 0, this.pace_ms);
      fs.writeSync(1, `STEP ${step}\n`);
      fs.readSync(0, answer);
    }
    fs.writeSync(1, `DONE leaked=${this.leaked} ended=${this.ended}\n`);
  }
}

module.exports = { Job };
