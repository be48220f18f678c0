// SPDX-License-Identifier: Apache-2.0
// Names from logs, processes and paths are data, never markup; and if something did get in, the
// page's policy would refuse to run it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { close, inFirefox, open, report } from "./browser.mjs";
import { hostileTree } from "./inputs.mjs";

test("namesThatAreMarkupAreShownAsText", async () => {
  const page = await open(report("hostile", hostileTree()));
  page.on("dialog", () => assert.fail("a script of the log ran"));
  const text = await page.locator("body").innerText();
  assert.ok(text.includes('<script>alert("x")</script>'), "the name itself");
  assert.ok(text.includes("<img src=x onerror=alert(1)>"));
  assert.equal(await page.locator("img").count(), 0);
  assert.equal(await page.locator("b", { hasText: /^w$/ }).count(), 0);
  await close(page);
});

test("theFileHoldsNoMarkupFromTheLogEither", () => {
  const html = readFileSync(report("hostile", hostileTree()), "utf8");
  assert.ok(!html.includes("<img src=x"));
  assert.ok(!html.includes("<script>alert"));
});

test("thePolicyRefusesWhatThePageDidNotBring", async () => {
  const page = await open(report("hostile", hostileTree()));
  await page.evaluate(() => {
    globalThis.intruded = false;
    const script = document.createElement("script");
    script.textContent = "globalThis.intruded = true";
    document.body.append(script);
    const holder = document.createElement("div");
    holder.innerHTML = '<img src="x" onerror="globalThis.intruded = true">';
    document.body.append(holder);
  });
  await page.waitForTimeout(300);
  assert.equal(await page.evaluate(() => globalThis.intruded), false);
  const fetched = await page.evaluate(() => fetch("http://127.0.0.1:9/").then(() => true, () => false));
  assert.equal(fetched, false);
  // Chromium says each refusal on the console, Firefox only the first, and nothing else.
  assert.ok(page.trouble.length >= (inFirefox ? 1 : 3));
  for (const line of page.trouble) assert.match(line, /Content Security Policy|Refused|request failed|violates/i);
  await page.context().close();
});
