// SPDX-License-Identifier: Apache-2.0
// Labels, contrast, landmarks and keyboard order, as far as axe-core and a Tab key can tell.
import assert from "node:assert/strict";
import { test } from "node:test";
import { accessibility, close, corpus, open, report } from "./browser.mjs";
import { hostileTree, leakingLog, threeSamples } from "./inputs.mjs";

const pages = {
  plateau: () => report("run2", corpus("model-garden/run2.log"), "--examples", "663", "--batch", "8"),
  leak: () => report("leak", leakingLog(), "--epoch-steps", "100", "--limit", "6GB"),
  tree: () => report("tree", hostileTree()),
  short: () => report("short", threeSamples()),
  comparison: () => report("compared", corpus("model-garden/run1.log"), corpus("model-garden/run2.log")),
};

for (const [name, make] of Object.entries(pages)) {
  for (const colorScheme of ["light", "dark"]) {
    test(`axeFindsNothing: ${name}, ${colorScheme}`, async () => {
      const page = await open(make(), { colorScheme });
      assert.deepEqual(await accessibility(page), []);
      await close(page);
    });
  }
}

test("tabGoesThroughTheControlsInTheirOrderOnThePage", async () => {
  const page = await open(pages.plateau());
  let last = -1;
  let stops = 0;
  for (; stops < 400; ++stops) {
    await page.keyboard.press("Tab");
    const place = await page.evaluate(() => {
      const now = document.activeElement;
      if (now === null || now === document.body) return null;
      return [...document.querySelectorAll("*")].indexOf(now);
    });
    if (place === null) break;
    if (place < last) break; // Around: the end was reached.
    last = place;
  }
  assert.ok(stops > 15, `${stops} stops`);
  await close(page);
});
