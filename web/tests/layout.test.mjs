// SPDX-License-Identifier: Apache-2.0
// The page as it is looked at: on dense displays, on a phone, on paper, and with one cursor in all charts.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { close, corpus, inFirefox, onFirstScreen, open, plateau, report, scratch, sourceDir } from "./browser.mjs";
import { leakingLog, oneSample, spikyLog } from "./inputs.mjs";

const run1 = () => report("run1", corpus("model-garden/run1.log"), "--examples", "663", "--batch", "8", "--limit", "20GB");

// A job with roles, watched to its end.
const recording = join(scratch, "workers.plateau");
const job = join(sourceDir, "tests/leakers/cow_workers.py");
execFileSync(plateau, ["run", "-q", "-o", recording, "--", "/usr/bin/python3", job], { stdio: "ignore" });
const workers = () => report("workers", recording);

// Keeps the size in which each text is drawn on a canvas.
function keepSizes() {
  globalThis.drawn = [];
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    globalThis.drawn.push([text, Number(/([\d.]+)px/.exec(this.font)?.[1])]);
    return fillText.call(this, text, ...rest);
  };
}

for (const dots of [1, 2, 3]) {
  test(`axisNumbersAreTwelvePixelsHigh: ${dots} dots a pixel`, async () => {
    const page = await open(run1(), { deviceScaleFactor: dots, first: keepSizes });
    await page.locator("#memory canvas").first().waitFor();
    const sizes = await page.evaluate(() => globalThis.drawn.filter(([text]) => /^\d+ GB$/.test(text)).map(([, size]) => size));
    assert.ok(sizes.length > 2);
    for (const size of sizes) assert.equal(size, 12 * dots);
    await close(page);
  });
}

test("aMomentStandsAtOnePlaceInAllCharts", async () => {
  const page = await open(run1());
  const charts = page.locator(".plot-focus");
  assert.ok((await charts.count()) >= 3);
  const box = await charts.first().boundingBox();
  await page.mouse.move(box.x + box.width * 0.41, box.y + box.height * 0.4);
  await page.locator("#memory .plot-tip").waitFor();
  const places = await page.evaluate(() =>
    [...document.querySelectorAll(".u-cursor-x")].map((line) => Math.round(line.getBoundingClientRect().left)));
  assert.ok(places.length >= 3);
  assert.equal(new Set(places).size, 1, `cursors at ${places}`);
  await close(page);
});

test("spikesHaveTheColourOfTheirKey", async () => {
  const page = await open(report("spiky", spikyLog()));
  const key = await page.locator("#memory .chart-key.spike").evaluate((mark) => getComputedStyle(mark).backgroundColor);
  await page.waitForTimeout(200);
  const dots = await page.locator("#memory canvas").first().evaluate((canvas, colour) => {
    const wanted = colour.match(/\d+/g).map(Number);
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let found = 0;
    for (let i = 0; i < data.length; i += 4) found += wanted.every((part, k) => data[i + k] === part);
    return found;
  }, key);
  assert.ok(dots > 10, `${dots} dots of ${key}`);
  await close(page);
});

test("oneSampleIsASampleAndNotSamples", async () => {
  const page = await open(report("one", oneSample()));
  const text = await page.locator("main").innerText();
  assert.doesNotMatch(text, /\b1 (samples|spikes|stacks|runs|processes)\b/);
  await close(page);
});

test("aPhoneShowsTheSectionsAndNothingHangsOverItsEdge", async () => {
  const page = await open(run1(), { viewport: { width: 390, height: 844 } });
  const links = await page.getByRole("navigation", { name: "Sections" }).getByRole("link").all();
  for (const link of links.slice(0, 3)) {
    const onTop = await link.evaluate((element) => {
      const { left, right, top, bottom } = element.getBoundingClientRect();
      return [left + 1, right - 1].every((x) => document.elementFromPoint(x, (top + bottom) / 2) === element);
    });
    assert.ok(onTop, await link.innerText());
  }
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
  await close(page);
});

test("longNamesOfTracedProcessesStayOnAPhone", async () => {
  const job = join(scratch, `${"a_name_as_long_as_people_make_them_".repeat(2)}.py`);
  writeFileSync(job, "import os\nchild = os.fork()\nheld = [bytearray(100_000) for _ in range(50)]\nif child: os.wait()\n");
  const traced = join(scratch, "forked.plateau");
  execFileSync(plateau, ["run", "-q", "--heap=exact", "-o", traced, "--", "/usr/bin/python3", job], { stdio: "ignore" });
  const page = await open(report("forked", traced), { viewport: { width: 390, height: 844 } });
  assert.equal(await page.locator("#flame select").count(), 1);
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
  await close(page);
});

test("namesOfOptionsStayOnOneLine", async () => {
  const page = await open(report("options", leakingLog(), "--epoch-steps", "100", "--total-steps", "2000"), { viewport: { width: 360, height: 800 } });
  const lines = await page.evaluate(() =>
    [...document.querySelectorAll("main .nowrap")]
      .filter((name) => /^--[a-z]+-/.test(name.textContent) && name.offsetParent !== null)
      .map((name) => [name.textContent, name.getClientRects().length]));
  const bare = await page.evaluate(() => {
    const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
      const { parentElement, textContent } = walker.currentNode;
      if (/--[a-z]+-[a-z]/.test(textContent) && parentElement.closest(".nowrap, .glossary, pre") === null) found.push(textContent);
    }
    return found;
  });
  assert.deepEqual(bare, []);
  assert.ok(lines.length >= 2);
  for (const [name, count] of lines) assert.equal(count, 1, name);
  await close(page);
});

test("peakAndEndingAreOnTheFirstScreen", async () => {
  const page = await open(workers());
  const peak = page.locator(".figure", { hasText: "Peak" });
  assert.match(await peak.innerText(), /MB/);
  assert.ok(await onFirstScreen(page, peak));
  assert.ok(await onFirstScreen(page, page.getByText("Ended: by itself, exit code 0.")));
  await close(page);
});

test("onPaperRolesAreReadableAndNothingIsCut", { skip: inFirefox && "the driver does not know paper" }, async () => {
  const page = await open(workers(), { viewport: { width: 700, height: 1000 } });
  await page.emulateMedia({ media: "print" });
  const role = page.locator("table.tree tbody tr").nth(1).locator("td").first();
  assert.match(await role.innerText(), /data worker/);
  const { width } = await role.boundingBox();
  assert.ok(width > 90, `${width} pixels`);
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 700);
  await close(page);
});
