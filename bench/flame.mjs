// SPDX-License-Identifier: Apache-2.0
// How long the page's flame graph takes to build and to draw, in a real Chromium without a GPU.
//
//   tools/page.sh deps && node bench/flame.mjs [frames...]     default 2000 20000 100000
//
// Heaps are invented. "tree": 12 children at most, 40 deep, a few wide branches and many narrow ones
// as in recorded heaps. "comb", the worst case: 1,200 stacks of equal size that share nothing, so that
// every frame is a pixel wide and none can be left out. "build" is stacks to tree, "draw" one picture
// of 1,200 px, "zoom" one of the widest call, "search" finds and marks. "pointer" is one hit test.
// Times are the renderer's CPU time in ms, the mean of 10, so that other work on the machine does not
// count; drawing ends with reading a pixel back, so that it is over.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const web = join(dirname(fileURLToPath(import.meta.url)), "..", "web");
const require = createRequire(join(web, "package.json"));
const { build } = require("esbuild");
const { chromium } = require("playwright-core");

const entry = `
import { frameTree } from "./src/flame/tree";
import { draw, visibleRows, kRowPx, hit } from "./src/flame/draw";
import { paletteOf, frameKind } from "./src/flame/colour";
import { findFrames } from "./src/flame/search";

function random(seed) {
  return () => ((seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648);
}

function invented(wanted) {
  const next = random(7);
  const frames = Array.from({ length: 3000 }, (_, i) => "function_" + i + (i % 3 ? " (module_" + (i % 40) + ".py:" + i + ")" : " [libnative.so]"));
  const stacks = [];
  let made = 0;
  let open = [{ path: [], mb: 40000 }];
  while (made < wanted && open.length > 0) {
    const node = open.splice(Math.floor(next() * Math.min(open.length, 50)), 1)[0];
    const children = node.path.length < 3 ? 3 : 1 + Math.floor(next() * next() * 12);
    let left = node.mb;
    for (let i = 0; i < children && made < wanted; ++i, ++made) {
      const mb = i === children - 1 ? left : left * (0.2 + 0.5 * next());
      left -= mb;
      const child = { path: [...node.path, Math.floor(next() * frames.length)], mb };
      if (child.path.length < 40) open.push(child);
      else stacks.push({ frames: child.path, mb, growth_mb: mb * (next() - 0.3) });
    }
  }
  for (const { path, mb } of open) stacks.push({ frames: path, mb, growth_mb: mb * (next() - 0.3) });
  return { frames, stacks };
}

function comb(wanted) {
  const deep = Math.round(wanted / 1200);
  const frames = Array.from({ length: 3000 }, (_, i) => "function_" + i + " (module.py:" + i + ")");
  const stacks = Array.from({ length: 1200 }, (_, i) => ({ frames: Array.from({ length: deep }, (_, j) => (i * 7 + j) % 3000), mb: 1, growth_mb: i % 3 }));
  return { frames, stacks };
}

let heap = null;
let tree = null;
let kinds = null;
let drawn = 0;
const find = () => findFrames(tree, heap.frames, "function_1");

function paint(zoom, matches) {
  const canvas = document.querySelector("canvas");
  const context = canvas.getContext("2d");
  const rows = visibleRows(tree, zoom, 1200);
  canvas.width = 1200;
  canvas.height = rows * kRowPx;
  const view = { tree, names: heap.frames, kinds, whole: "all", zoom, upward: false, colour: "growth", matches, selected: null, hovered: null, widthPx: 1200, rows };
  drawn = draw(context, view, paletteOf(canvas));
  context.getImageData(0, 0, 1, 1);
}

window.prepare = (shape, wanted) => {
  heap = shape === "comb" ? comb(wanted) : invented(wanted);
  kinds = heap.frames.map(frameKind);
  tree = frameTree(heap, "live");
  paint(0, null);
  return { nodes: tree.count, stacks: heap.stacks.length, visible: drawn };
};

window.work = {
  build: () => frameTree(heap, "live"),
  draw: () => paint(0, null),
  zoom: () => paint(tree.rows[3][0], null),
  search: () => paint(0, find()),
  pointer: () => {
    const view = { tree, zoom: 0, upward: false, widthPx: 1200, rows: visibleRows(tree, 0, 1200) };
    for (let i = 0; i < 1000; ++i) hit(view, (i * 7) % 1200, (i * 13) % 700);
  },
};
`;

const bundle = await build({
  stdin: { contents: entry, resolveDir: web, loader: "ts" },
  bundle: true,
  write: false,
  format: "iife",
  target: "es2022",
});
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  const page = await browser.newPage();
  await page.setContent("<canvas></canvas>");
  await page.addScriptTag({ content: bundle.outputFiles[0].text });
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const cpu = async () => (await session.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration").value * 1000;
  const repeat = 10;
  const time = async (what) => {
    const run = () => page.evaluate(([name, n]) => { for (let i = 0; i < n; ++i) window.work[name](); }, [what, repeat]);
    await run();
    const from = await cpu();
    await run();
    return ((await cpu()) - from) / repeat;
  };
  const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [2000, 20000, 100000];
  console.log("shape   frames   stacks  visible   build ms  draw ms  zoom ms  search+draw ms  pointer us");
  const cell = (value, width, digits = 0) => value.toFixed(digits).padStart(width);
  for (const [shape, size] of [...sizes.map((n) => ["tree", n]), ["comb", sizes.at(-1)]]) {
    const r = await page.evaluate(([s, n]) => window.prepare(s, n), [shape, size]);
    const times = { build: await time("build"), draw: await time("draw"), zoom: await time("zoom"), search: await time("search"), pointer: await time("pointer") };
    console.log(
      `${shape} ${cell(r.nodes, 8)} ${cell(r.stacks, 8)} ${cell(r.visible, 8)} ${cell(times.build, 10, 1)} ${cell(times.draw, 8, 1)} ${cell(times.zoom, 8, 1)} ${cell(times.search, 15, 1)} ${cell(times.pointer, 11, 2)}`,
    );
  }
} finally {
  await browser.close();
}
