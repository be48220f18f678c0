// SPDX-License-Identifier: Apache-2.0
// Logs that the browser tests make reports of: written here, so that each says what it is.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { scratch } from "./browser.mjs";

// A generator without a seed from outside: the same bytes on every machine.
function* noise(seed) {
  let state = seed >>> 0;
  for (;;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state / 2 ** 32 - 0.5;
  }
}

const write = (name, lines) => {
  const path = join(scratch, name);
  writeFileSync(path, lines.join("\n") + "\n");
  return path;
};

// One process that gains 3 MB with every step, for ever.
export function leakingLog() {
  const random = noise(1);
  const lines = ["step,rss_mb"];
  for (let step = 1; step <= 900; ++step) {
    lines.push(`${step},${(2000 + 3 * step + 8 * random.next().value).toFixed(1)}`);
  }
  return write("leak.csv", lines);
}

// A main process that stays level, four workers of which one grows, and names that are markup.
export function hostileTree() {
  const random = noise(2);
  const names = ['<script>alert("x")</script>', "<img src=x onerror=alert(1)>", "worker & \"co\"", "</script><b>w</b>", "worker"];
  const lines = ["step,pid,ppid,name,rss_mb"];
  for (let step = 0; step < 400; step += 2) {
    for (let i = 0; i < names.length; ++i) {
      const mb = (i === 0 ? 3000 : 400) + (i === 4 ? 2.5 * step : 0) + 4 * random.next().value;
      lines.push(`${step},${100 + i},${i === 0 ? 1 : 100},"${names[i].replaceAll('"', '""')}",${mb.toFixed(1)}`);
    }
  }
  return write("tree <b>.csv", lines);
}

// A process that grows, and five that grew and ended before it: it is judged alone.
export function treeOfTheEnded() {
  const random = noise(9);
  const lines = ["step,pid,ppid,name,rss_mb"];
  for (let step = 0; step < 400; step += 2) {
    for (let i = 0; i < 6; ++i) {
      if (i === 0 || step < 340) lines.push(`${step},${100 + i},${i === 0 ? 1 : 100},worker,${(90 + step / 2 + random.next().value).toFixed(1)}`);
    }
  }
  return write("ended.csv", lines);
}

// One log for each rank of a job: all level but the odd one.
export function rankLogs(count, odd) {
  const random = noise(7);
  return Array.from({ length: count }, (_, rank) => {
    const lines = ["step,rss_mb"];
    for (let step = 0; step < 200; ++step) {
      lines.push(`${step},${(2000 + (rank === odd ? 6 * step : 0) + 4 * random.next().value).toFixed(1)}`);
    }
    return write(`rank${rank}.csv`, lines);
  });
}

// A million samples, level but for one peak and one dip of a single sample each.
export const hugePeakMb = 9876.5;
export const hugeDipMb = 123.5;
export function hugeLog() {
  const random = noise(3);
  const parts = ["step,rss_mb"];
  for (let step = 1; step <= 1000000; ++step) {
    let mb = 4000 + 20 * random.next().value;
    if (step === 345678) mb = hugePeakMb;
    if (step === 765432) mb = hugeDipMb;
    parts.push(`${step},${mb.toFixed(1)}`);
  }
  return write("huge.csv", parts);
}

// Too little to say anything.
export function threeSamples() {
  return write("short.csv", ["step,rss_mb", "1,500", "2,501", "3,502"]);
}

export function oneSample() {
  return write("one.csv", ["step,rss_mb", "1,500"]);
}

// Level, with a peak of one sample now and then; few enough samples that each is a dot.
export function spikyLog() {
  const random = noise(4);
  const lines = ["step,rss_mb"];
  for (let step = 1; step <= 60; ++step) {
    lines.push(`${step},${(1000 + (step % 20 === 10 ? 600 : 0) + 2 * random.next().value).toFixed(1)}`);
  }
  return write("spiky.csv", lines);
}
