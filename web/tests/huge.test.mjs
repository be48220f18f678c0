// SPDX-License-Identifier: Apache-2.0
// A million samples: few enough points to draw, and no extreme lost.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { close, open, report } from "./browser.mjs";
import { hugeDipMb, hugeLog, hugePeakMb } from "./inputs.mjs";

const path = report("huge", hugeLog());

function document_of(file) {
  const [, packed] = /id="plateau-data">([^<]*)</.exec(readFileSync(file, "utf8"));
  return JSON.parse(gunzipSync(Buffer.from(packed.trim(), "base64")));
}

test("aPeakAndADipOfOneSampleSurvive", () => {
  const run = document_of(path).runs[0];
  assert.equal(run.samples.taken, 1000000);
  assert.equal(run.samples.how, "extremes");
  assert.ok(run.x.length <= 4000);
  const judged = run.lines.find((line) => line.judged);
  assert.equal(Math.max(...judged.mb), hugePeakMb);
  assert.equal(Math.min(...judged.mb), hugeDipMb);
});

test("thePageSaysThatItIsThinnedAndStillAnswersToTheMouse", async () => {
  assert.ok(statSync(path).size < 1000000, "under 1 MB with its data");
  const page = await open(path);
  assert.match(await page.locator("#memory").innerText(), /1,000,000 samples.*lowest and highest/s);
  const box = await page.locator("#memory .plot-focus").first().boundingBox();
  await page.mouse.move(box.x + box.width * 0.5, box.y + box.height / 2);
  await page.waitForFunction(() => /step [\d,]+/.test(document.querySelector("#memory .plot").innerText));
  await close(page);
});
