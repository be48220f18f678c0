// SPDX-License-Identifier: Apache-2.0
// A job of many ranks: a small chart for each, the odd one marked without colour alone, its recording one click away.
import assert from "node:assert/strict";
import { test } from "node:test";
import { accessibility, close, open, report } from "./browser.mjs";
import { rankLogs } from "./inputs.mjs";

const path = () => report("job", "--job", "<b>exp7</b>", "--epoch-steps", "40", "--limit", "16GB", ...rankLogs(6, 3));

for (const colorScheme of ["light", "dark"]) {
  test(`theOddRankIsMarkedIn${colorScheme}`, async () => {
    const page = await open(path(), { colorScheme });
    assert.equal(await page.locator("#ranks figure.rank").count(), 6);
    const odd = page.locator("#ranks figure.rank.odd");
    assert.equal(await odd.count(), 1);
    assert.match(await odd.innerText(), /rank 3[^]*leak[^]*MB\/step/);
    assert.match(await page.locator("#ranks .rank-said").first().innerText(), /rank 3 leaks, the other 5 are level/);
    assert.equal(await page.locator("#ranks table tbody tr").count(), 6);
    assert.deepEqual(await accessibility(page), []);
    await close(page);
  });
}

test("theOddRanksRecordingIsOneClickAway", async () => {
  const page = await open(path());
  await page.getByRole("button", { name: /rank3\.csv/ }).click();
  assert.equal(await page.locator("#ranks").count(), 0);
  await close(page);
});
