// SPDX-License-Identifier: Apache-2.0
// How long the page's charts take to open, zoom and read, in a real Chromium without a GPU.
//
//   tools/page.sh build && node bench/charts.mjs
//
// Runs are invented: "line" has one line of 100,000 points (far more than the program ever sends,
// which is 4,000), "tree" 4,000 moments of 3 kinds of page and 60 processes. "open" is from the
// start of the navigation until all charts are drawn; "zoom" one step nearer in all charts of the
// page together, "back" all of it again, and "move" one move of the cursor with what it reads. Times
// are what the page's main thread spent on them in ms of processor time, the best of 3 (open) and 7:
// other work on the machine hardly changes that. Drawing ends with reading a pixel back.
import { createRequire } from "node:module";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const web = join(dirname(fileURLToPath(import.meta.url)), "..", "web");
const { chromium } = createRequire(join(web, "package.json"))("playwright-core");

function invented(moments, processes) {
  const x = Array.from({ length: moments }, (_, i) => (i * 86400) / moments);
  const wave = (k) => x.map((t, i) => 4000 / k + t * 0.05 + 300 * Math.sin(i / 50 + k) + (i % 997 === 0 ? 3000 : 0));
  const line = (group, name, process, judged, mb) => ({ group, name, process, judged, stacked: true, mb });
  const floor = { x: x.filter((_, i) => i % 10 === 0), mb: x.filter((_, i) => i % 10 === 0).map((t) => 3700 + t * 0.05) };
  const explanations = Array.from({ length: 17 }, (_, i) => ({ name: `shape-${i}`, words: `a shape of growth, number ${i}`, bounded: i % 2 === 0 }));
  const verdict = {
    file: "invented", verdict: "leak", confidence: 0.98, risk: { oom: null, at_step: null, limit_mb: 64000 }, component: "owned", process: null,
    steps: { first: 0, last: 86400 }, growth: { rate_mb_per_step: 0.05, rate_low: 0.04, rate_high: 0.06 }, settled: null, epoch_steps: null,
    spikes: { count: 1, height_mb: 3000 }, causes: [], decides_at_step: null, experiment: null, evidence: [], headline: "leak", run: null, samples: moments,
    clock: "second", first_mb: 4000, last_mb: 8000, current_rate_mb_per_step: 0.05, mb_per_example: null, total_steps: null, at_total_steps_mb: null,
    forecast: null, advice: [], explanations: [], components: [], processes: [], undecided_because: null, missing: null, warnings: [],
  };
  const run = {
    source: "invented", title: null, format: "plateau recording", command: null, host: null, started_unix_s: null, ending: null, verdict,
    said: { headline: "leak", course: { label: "Grew", text: "" }, since: null, who: null, site: null, why: [], next: [], risk: null, peaks: null, text: "" },
    clock: "second", samples: { taken: moments, shown: moments, how: "all" }, x, time_s: null,
    lines: [line("component", "owned", null, true, wave(1)), line("component", "shmem", null, false, wave(7)), line("component", "file", null, false, wave(9))],
    gauges: [], floor, spikes: { x: x.filter((_, i) => i % 997 === 0), mb: x.filter((_, i) => i % 997 === 0).map((t) => 7000 + t * 0.05) },
    phases: [{ from_step: 0, to_step: 86400, from_mb: 3700, to_mb: 8000, rate_mb_per_step: 0.05 }],
    marks: Array.from({ length: 90 }, (_, i) => ({ x: i * 950, kind: "eval", text: "" })), epochs: Array.from({ length: 130 }, (_, i) => i * 660),
    forecast: null, limit_mb: 64000, processes: [], explanations,
    replay: Array.from({ length: 96 }, (_, i) => ({ x: i * 900, verdict: i < 40 ? "undecided" : "leak", confidence: 0.5 + i / 200, forecast_mb: null, weights: explanations.map(() => 1 / 17) })),
    knew_at: 36000, clocks: [], heaps: [], context: [], cost: null, notes: [],
  };
  for (let k = 0; k < processes; ++k) {
    run.processes.push({ id: 4000 + k, is_pid: true, parent: k === 0 ? null : 0, name: "python", role: k === 0 ? "main" : "data worker", role_reason: null, first_x: 0, last_x: 86400, first_mb: 1, last_mb: 1, peak_mb: 1, growth_mb: 1, share: null });
    run.lines.push(line("process", "python", k, false, wave(k + 2).map((mb, i) => (k > 20 && (i + k * 100) % 2000 < 900 ? null : mb))));
  }
  return { schema: 1, plateau: "bench", runs: [run], comparison: null };
}

const best = (values) => Math.min(...values);

async function measure(browser, folder, name, data) {
  const packed = gzipSync(JSON.stringify(data)).toString("base64");
  const page = readFileSync(join(web, "dist", "page.html"), "utf8")
    .replace("<!--plateau:body-->", () => `<script type="application/octet-stream" id="plateau-data">${packed}</script>`);
  const file = join(folder, `${name}.html`);
  writeFileSync(file, page);
  const spent = async (session) => {
    const { metrics } = await session.send("Performance.getMetrics");
    return 1000 * metrics.find((each) => each.name === "TaskDuration").value;
  };
  const opened = [];
  let tab;
  let session;
  for (let i = 0; i < 3; ++i) {
    await tab?.close();
    tab = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    session = await tab.context().newCDPSession(tab);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    const before = await spent(session);
    await tab.goto(`file://${file}`);
    await tab.waitForSelector("#replay canvas");
    await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    opened.push((await spent(session)) - before);
  }
  const act = (what, i) =>
    tab.evaluate(
      async ([name, place]) => {
        const chart = document.querySelector("#memory .plot-focus");
        const over = chart.querySelector(".u-over");
        const box = over.getBoundingClientRect();
        const at = { clientX: box.left + 50 + place * 30, clientY: box.top + 80, bubbles: true };
        if (name === "move") over.dispatchEvent(new MouseEvent("mousemove", at));
        else chart.dispatchEvent(new KeyboardEvent("keydown", { key: name === "zoom" ? "+" : "0", bubbles: true }));
        await null;
        await null;
        for (const canvas of document.querySelectorAll("canvas")) canvas.getContext("2d").getImageData(0, 0, 1, 1);
      },
      [what, i],
    );
  const times = { zoom: [], back: [], move: [] };
  for (let i = 0; i < 7; ++i) {
    for (const what of Object.keys(times)) {
      const before = await spent(session);
      await act(what, i);
      times[what].push((await spent(session)) - before);
    }
  }
  await tab.close();
  const megabytes = (page.length / 1e6).toFixed(1);
  console.log(`${name}: ${megabytes} MB, open ${best(opened).toFixed(0)}, ${Object.entries(times).map(([what, all]) => `${what} ${best(all).toFixed(1)}`).join(", ")} ms`);
}

const folder = mkdtempSync(join(tmpdir(), "charts-"));
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  await measure(browser, folder, "line of 100,000", invented(100000, 0));
  await measure(browser, folder, "tree of 4,000 x 63", invented(4000, 60));
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
