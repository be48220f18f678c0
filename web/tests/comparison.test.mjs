// SPDX-License-Identifier: Apache-2.0
// Two runs side by side: the outcome on the first screen, the lines over one another, the figures.
import assert from "node:assert/strict";
import { test } from "node:test";
import { close, corpus, onFirstScreen, open, report } from "./browser.mjs";

const path = () => report("compared", corpus("dev/leak_arrays-1.csv.gz"), corpus("dev/flat-1.csv.gz"));

test("theOutcomeIsTheHeadline", async () => {
  const page = await open(path());
  const headline = page.locator("h1").first();
  assert.match(await headline.innerText(), /better|no worse|worse|undecided/i);
  assert.match(await headline.locator(".compare-stamp").innerText(), /^better$/i);
  assert.match(await headline.locator(".compare-said").innerText(), /^the (fix|growth|leak)/);
  assert.ok(await onFirstScreen(page, headline));
  await close(page);
});

test("bothRunsAreDrawnAndTheirFiguresListed", async () => {
  const page = await open(path());
  assert.ok((await page.locator("#overlay canvas").count()) >= 1);
  const text = await page.locator("main").innerText();
  assert.match(text, /leak_arrays-1/);
  assert.match(text, /flat-1/);
  assert.match(text, /floor/i);
  await close(page);
});

test("eachRunsOwnPageIsOneClickAway", async () => {
  const page = await open(path());
  const tabs = page.getByRole("group", { name: "Run shown below" }).getByRole("button");
  assert.equal(await tabs.count(), 2);
  await tabs.nth(1).click();
  assert.equal(await tabs.nth(1).getAttribute("aria-pressed"), "true");
  assert.match(await page.locator("#answer").innerText(), /plateau/i);
  await close(page);
});
