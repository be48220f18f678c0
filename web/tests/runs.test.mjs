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
  await page.getByText("No run matches.").waitFor();
  await page.getByRole("searchbox").fill("");
  await page.getByRole("button", { name: /^plateau \d/ }).click();
  const left = await page.locator("table.runs tbody tr").allInnerTexts();
  assert.ok(left.length > 0 && left.length < 4);
  for (const row of left) assert.match(row, /plateau/);
  await close(page);
});

// The list as it is while a server is still reading: one file is known, one cannot be read, one waits.
function halfRead() {
  const ask = globalThis.fetch;
  const name = "a rather long name of an experiment with-many-hyphens_and_underscores-lr3e-4-bs256-seed1234567890.plateau";
  const none = { live: false, word: null, confidence: null, headline: "", last_mb: null, last_x: null, clock: null, changed_unix_s: 1.7e9, trouble: null, course: { x: [], mb: [] } };
  const known = { ...none, word: "leak", confidence: 0.99, headline: "growth that no bounded explanation fits, at one rate from its beginning to its end", last_mb: 12345, last_x: 123456, clock: "step", course: { x: [1, 2], mb: [1, 2] } };
  const runs = [{ ...known, id: "a", name }, { ...none, id: "b", name: "waiting.plateau" }, { ...none, id: "c", name: "broken.plateau", trouble: "is empty" }];
  globalThis.fetch = async (address, ...rest) => (String(address).includes("/api/runs") ? new Response(JSON.stringify({ runs })) : ask(address, ...rest));
}

test("whatIsNotReadYetIsNotCalledUnreadable", async () => {
  const page = await open(url, { first: halfRead });
  await page.locator("table.runs").waitFor();
  await page.getByRole("button", { name: "being read 1" }).click();
  assert.deepEqual(await names(page), ["waiting.plateau"]);
  await page.getByRole("button", { name: "unreadable 1" }).click();
  assert.deepEqual(await names(page), ["broken.plateau"]);
  await close(page);
});

test("theWholeTableFitsADesktop", async () => {
  const page = await open(url, { first: halfRead });
  await page.locator("table.runs").waitFor();
  const beyond = await page.locator(".scroll-x").evaluate((box) => box.scrollWidth - box.clientWidth);
  assert.equal(beyond, 0);
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
