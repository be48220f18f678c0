// SPDX-License-Identifier: Apache-2.0
// The list of runs: search, filter, order, the course of each, and two of them side by side.
import assert from "node:assert/strict";
import { test } from "node:test";
import { accessibility, close, corpus, onFirstScreen, open, plateau, start } from "./browser.mjs";
import { hostileTree, leakingLog } from "./inputs.mjs";

const server = start(plateau, ["serve", leakingLog(), hostileTree(), corpus("model-garden/run2.log"), corpus("dev/flat-1.csv.gz"), "--listen", "127.0.0.1:0"]);
const [url] = await server.line(/http:\/\/127\.0\.0\.1:\d+\/\S*/);

async function list() {
  const page = await open(url);
  // Files are read one after the other.
  await page.waitForFunction(() => document.querySelectorAll("table.runs .spark").length === 4, null, { timeout: 60000 });
  return page;
}
const names = (page) => page.locator("table.runs tbody th").allInnerTexts();

test("leaksComeFirstAndEachRunHasItsCourse", async () => {
  const page = await list();
  assert.match((await names(page))[0], /leak\.csv|tree/);
  assert.deepEqual(await accessibility(page), []);
  await close(page);
});

test("searchAndFilterLeaveWhatIsLikeThat", async () => {
  const page = await list();
  await page.getByRole("searchbox", { name: "Search runs" }).fill("RUN2");
  assert.equal((await names(page)).length, 1);
  await page.getByRole("searchbox").fill("no such thing");
  await page.getByText("No run is like that.").waitFor();
  await page.getByRole("searchbox").fill("");
  await page.getByRole("button", { name: /^plateau \d/ }).click();
  const left = await page.locator("table.runs tbody tr").allInnerTexts();
  assert.ok(left.length > 0 && left.length < 4);
  for (const row of left) assert.match(row, /plateau/);
  await close(page);
});

test("aColumnSortsTurnsRoundAndGivesTheOrderBack", async () => {
  const page = await list();
  const own = await names(page);
  const sort = page.getByRole("button", { name: "Sort by memory" });
  await sort.click();
  const largest = await names(page);
  await page.locator('th[aria-sort="descending"]').waitFor();
  await sort.click();
  assert.deepEqual(await names(page), [...largest].reverse());
  await sort.click();
  assert.deepEqual(await names(page), own);
  await close(page);
});

test("anyTwoRunsCanBeComparedTheFirstChosenBeingBefore", async () => {
  const page = await list();
  await page.getByRole("checkbox", { name: /Compare .*leak\.csv/ }).check();
  await page.getByText("is before; tick the one after").waitFor();
  await page.getByRole("checkbox", { name: /Compare .*run2\.log/ }).check();
  await page.getByRole("link", { name: "Compare", exact: true }).click();
  await page.locator("#outcome").waitFor({ timeout: 60000 });
  const sides = await page.locator(".side").allInnerTexts();
  assert.match(sides[0], /leak\.csv/);
  assert.match(sides[1], /run2\.log/);
  await page.getByRole("link", { name: /All \d+ runs/ }).click();
  await page.locator("table.runs").waitFor();
  await close(page);
});

test("aPhoneShowsNameAndVerdictOfEachRun", async () => {
  const page = await open(url, { viewport: { width: 390, height: 844 } });
  const verdict = page.locator("table.runs .word").first();
  await verdict.waitFor({ timeout: 60000 });
  assert.ok(await onFirstScreen(page, verdict));
  await close(page);
});

test("twoRunsOfWhichOneIsNotThereAreAnError", async () => {
  for (const [runs, status] of [["a,b", 404], ["", 422], ["x,x", 422]]) {
    const reply = await fetch(new URL(`/api/compare?run=${runs}`, url));
    assert.equal(reply.status, status);
    assert.match((await reply.json()).error, /run/);
  }
  await server.stop();
});
