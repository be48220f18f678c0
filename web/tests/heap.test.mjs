// SPDX-License-Identifier: Apache-2.0
// Call stacks of a traced job: the flame graph, its keyboard, its search, and the table beside it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { accessibility, close, open, plateau, report, scratch, sourceDir } from "./browser.mjs";

// Real images that stay decoded, traced for a few seconds.
const recording = join(scratch, "images.plateau");
execFileSync(plateau, ["run", "-q", "--heap", "-o", recording, "--", "/usr/bin/python3", join(sourceDir, "tests/leakers/lazy_images.py")],
  { stdio: "ignore" });
const path = report("images", recording);

test("theCallThatDecodesIsNamedFirst", async () => {
  const page = await open(path);
  const first = page.locator("#flame table tbody tr").first();
  assert.match(await first.innerText(), /memory_get_block|ImageFile|lazy_images/);
  assert.match(await page.locator("#answer").innerText(), /lazy_images|ImageFile|memory_get_block/);
  await close(page);
});

test("theFlameGraphAnswersToKeysAndSearch", async () => {
  const page = await open(path);
  const canvas = page.locator("#flame canvas").first();
  const picture = () => canvas.evaluate((c) => c.toDataURL());
  await canvas.scrollIntoViewIfNeeded();
  const whole = await picture();
  await page.locator("#flame input[type=search], #flame input[type=text]").first().fill("ImageFile");
  await page.waitForFunction(() => /%/.test(document.querySelector("#flame").innerText));
  await page.waitForTimeout(200);
  assert.notEqual(await picture(), whole, "matches stand out");
  await close(page);
});

test("peakTemporaryBlocksAndNeighboursAreShown", async () => {
  const page = await open(path);
  const flame = page.locator("#flame");
  await flame.getByRole("button", { name: "peak", exact: true }).click();
  assert.match(await flame.innerText(), /The most that was alive: [\d.]+ MB, at /);
  await flame.locator("table.sites tbody th button").first().click();
  assert.match(await flame.locator(".flame-around").innerText(), /Called by[\s\S]*Allocates through/);
  await flame.getByRole("button", { name: "temporary", exact: true }).click();
  assert.match(await flame.innerText(), /given back at once|freed within the step/);
  await close(page);
});

test("sitesCanBeSortedByWhatIsAliveAndBack", async () => {
  const page = await open(path);
  const sites = () => page.locator("#flame table.sites tbody th").allInnerTexts();
  await page.getByRole("button", { name: /more sites?$/ }).click();
  const own = await sites();
  const sort = page.getByRole("button", { name: "Sort by memory alive" });
  await sort.click();
  assert.match((await sites())[0], /memory_get_block|ImageFile|lazy_images/);
  await sort.click();
  assert.notDeepEqual(await sites(), own);
  await sort.click();
  assert.deepEqual(await sites(), own);
  await close(page);
});

test("zoomingAChartShowsTheStacksOfThatStretch", async () => {
  const page = await open(path);
  const alive = () => page.locator("#flame table.sites tbody tr").first().locator("td").nth(2).innerText();
  const whole = await alive();
  const box = await page.locator("#memory .plot-focus").first().boundingBox();
  await page.mouse.move(box.x + box.width * 0.15, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.25, box.y + 100, { steps: 8 });
  await page.mouse.up();
  await page.getByText("Only what the charts are zoomed to").waitFor();
  assert.notEqual(await alive(), whole);
  await page.getByRole("button", { name: "The whole run" }).click();
  assert.equal(await alive(), whole);
  await close(page);
});

test("axeFindsNothingOnIt", async () => {
  const page = await open(path);
  assert.deepEqual(await accessibility(page), []);
  await close(page);
});
