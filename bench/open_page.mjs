// SPDX-License-Identifier: Apache-2.0
// How long a report takes to open in a real Chromium: from the start of the navigation until its
// charts are drawn.
//
//   tools/page.sh deps && node bench/open_page.mjs FILE.html [N]     (N times; the fastest and the median)
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const web = join(dirname(fileURLToPath(import.meta.url)), "..", "web");
const { chromium } = createRequire(join(web, "package.json"))("playwright-core");
const [file, rounds = "5"] = process.argv.slice(2);
if (file === undefined) {
  console.error("usage: node bench/open_page.mjs FILE.html [N]");
  process.exit(2);
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-dev-shm-usage"],
});
const seconds = [];
for (let i = 0; i < Number(rounds); ++i) {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  await page.goto(`file://${resolve(file)}`);
  // Two frames after the canvas is there it has been painted; performance.now() counts from the navigation.
  const drawn = await page.waitForFunction(() => {
    const canvas = document.querySelector("#memory canvas");
    if (canvas === null) return false;
    return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now()))));
  });
  seconds.push((await drawn.jsonValue()) / 1000);
  await page.context().close();
}
await browser.close();
seconds.sort((a, b) => a - b);
const median = seconds[Math.floor(seconds.length / 2)];
console.log(`opens     ${seconds[0].toFixed(2)} s at best, ${median.toFixed(2)} s in the median of ${seconds.length}`);
