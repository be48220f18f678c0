// SPDX-License-Identifier: Apache-2.0
// The first screen: what someone who has never seen the tool can say without scrolling.
import assert from "node:assert/strict";
import { test } from "node:test";
import { close, corpus, inFirefox, onFirstScreen, open, report } from "./browser.mjs";
import { treeOfTheEnded, hostileTree, leakingLog, threeSamples } from "./inputs.mjs";

const run2 = () => report("run2", corpus("model-garden/run2.log"), "--examples", "663", "--batch", "8", "--limit", "32GB");

// The cards of the answer by their heading, each wholly on the first screen.
async function cards(page) {
  const texts = {};
  for (const card of await page.locator("#answer .card").all()) {
    assert.ok(await onFirstScreen(page, card), `on the first screen: ${await card.innerText()}`);
    texts[await card.locator("h2").first().textContent()] = await card.innerText();
  }
  return texts;
}

test("aPlateauSaysNoLeakSinceWhenWhyAndWhatToDo", async () => {
  const page = await open(run2());
  assert.match(await page.locator("h1").first().innerText(), /plateau/i);
  assert.match(await page.locator("h1").first().innerText(), /no leak/);
  const said = await cards(page);
  assert.match(said["Since when"], /step 83/);
  assert.match(said["Why"], /per-example cache/);
  assert.match(said["What to do"], /Fix: .*(lru_cache|decode per batch)/);
  assert.match(await page.locator("#answer strong", { hasText: "Cause:" }).innerText(), /^Cause: per-example cache/);
  assert.match(await page.locator("#answer strong", { hasText: "Confirm:" }).innerText(), /^Confirm:\s*$/);
  assert.ok(await onFirstScreen(page, page.locator("#memory h2")), "the chart begins on the first screen");
  await close(page);
});

test("aLeakSaysSoAndHowFast", async () => {
  const page = await open(report("leak", leakingLog(), "--epoch-steps", "100"));
  assert.match(await page.locator("h1").first().innerText(), /leak/i);
  const said = await cards(page);
  assert.match(said["Since when"], /MB\/step/);
  assert.ok(said["What to do"].length > 30);
  assert.match(await page.locator("#answer strong", { hasText: "Fix:" }).innerText(), /Fix: \S+/);
  await close(page);
});

test("aTreeNamesTheProcessThatGrows", async () => {
  const page = await open(report("tree", hostileTree(), "--epoch-steps", "40"));
  const said = await cards(page);
  assert.match(said["Which process"], /104/);
  assert.match(await page.locator("#tree").innerText(), /104/);
  await close(page);
});

test("severalProcessesOfWhichNoneStandsOutAreNotCalledOneFigure", async () => {
  const page = await open(report("ended", treeOfTheEnded()));
  const said = await cards(page);
  assert.doesNotMatch(said["Which process"], /one figure/);
  assert.match(said["Which process"], /Of 6 processes none/);
  await close(page);
});

test("tooLittleDataIsSaidAndNothingIsMadeUp", async () => {
  const page = await open(report("short", threeSamples()));
  assert.match(await page.locator("h1").first().innerText(), /undecided/i);
  assert.doesNotMatch(await page.locator("#answer").innerText(), /NaN|undefined|null|Infinity/);
  await close(page);
});

test("noPageSaysNaNOrUndefinedAnywhere", async () => {
  for (const path of [run2(), report("leak", leakingLog()), report("tree", hostileTree())]) {
    const page = await open(path);
    assert.doesNotMatch(await page.locator("body").innerText(), /\bNaN\b|\bundefined\b|\bInfinity\b|\[object/);
    await close(page);
  }
});

test("everyNumberLeadsToItsExplanation", async () => {
  const page = await open(run2());
  const links = await page.locator("a.num, #answer a[href^='#']").all();
  assert.ok(links.length > 10, `${links.length} links`);
  for (const link of links) {
    const href = await link.getAttribute("href");
    assert.equal(await page.locator(`[id="${href.slice(1)}"]`).count(), 1, `${href} exists once`);
  }
  await close(page);
});

test("nothingIsAskedOfTheNetwork", async () => {
  const path = run2();
  const page = await open(path);
  await page.mouse.wheel(0, 5000);
  const foreign = page.requests.filter((url) => !url.startsWith("file:") && !url.startsWith("data:") && !url.startsWith("blob:"));
  assert.deepEqual(foreign, []);
  // The page itself, of which Firefox does not tell.
  assert.equal(page.requests.filter((url) => url.startsWith("file:")).length, inFirefox ? 0 : 1);
  await close(page);
});

test("theCopyForAnIssueIsMarkdownWithTheAnswer", async () => {
  const page = await open(run2(), { permissions: ["clipboard-read", "clipboard-write"] });
  await page.getByRole("button", { name: "Copy for an issue" }).click();
  await page.getByText("Copied").first().waitFor();
  const text = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(text, /plateau/i);
  assert.match(text, /no leak/);
  assert.match(text, /```/);
  await close(page);
});

test("withoutJavaScriptTheTerminalReportIsShown", async () => {
  const path = run2();
  const { theBrowser } = await import("./browser.mjs");
  const context = await (await theBrowser()).newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`file://${path}`);
  assert.match(await page.locator("body").innerText(), /PLATEAU\s+no leak/);
  await context.close();
});
