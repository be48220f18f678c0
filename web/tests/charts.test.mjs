// SPDX-License-Identifier: Apache-2.0
// The charts answer to the mouse and to the keyboard.
import assert from "node:assert/strict";
import { test } from "node:test";
import { close, corpus, inFirefox, open, report } from "./browser.mjs";
import { hostileTree } from "./inputs.mjs";

const run2 = () => report("run2", corpus("model-garden/run2.log"), "--examples", "663", "--batch", "8");
const chart = (page, id = "memory") => page.locator(`#${id} .plot-focus`).first();
const reset = (page) => page.getByRole("button", { name: /reset zoom|show all/i }).first();

// The picture that is drawn now, to see that it changed.
const picture = (page, id) => page.locator(`#${id} canvas`).first().evaluate((canvas) => canvas.toDataURL());

async function settled(page, id) {
  let before = "";
  for (let i = 0; i < 40; ++i) {
    const now = await picture(page, id);
    if (now === before) return now;
    before = now;
    await page.waitForTimeout(60);
  }
  return before;
}

test("hoverTellsStepAndMemory", async () => {
  const page = await open(run2());
  const box = await chart(page).boundingBox();
  await page.mouse.move(box.x + box.width * 0.7, box.y + box.height / 2);
  const tip = page.locator("#memory .plot").first();
  await page.waitForFunction(() => /step \d+/.test(document.querySelector("#memory .plot").innerText));
  assert.match(await tip.innerText(), /GB/);
  await close(page);
});

test("dragZoomsAndTheButtonShowsAllAgain", async () => {
  const page = await open(run2());
  const whole = await settled(page, "memory");
  const box = await chart(page).boundingBox();
  await page.mouse.move(box.x + box.width * 0.3, box.y + box.height * 0.4);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.4, { steps: 8 });
  await page.mouse.up();
  await page.mouse.move(5, 5);
  const part = await settled(page, "memory");
  assert.notEqual(part, whole, "zoomed");
  await reset(page).click();
  await page.mouse.move(5, 5);
  assert.equal(await settled(page, "memory"), whole, "all of it again");
  await close(page);
});

test("theKeyboardMovesZoomsAndResets", async () => {
  const page = await open(run2());
  const whole = await settled(page, "memory");
  await chart(page).focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => /step/.test(document.querySelector("#memory [aria-live]").textContent));
  await page.keyboard.press("+");
  assert.notEqual(await settled(page, "memory"), whole);
  await page.keyboard.press("0");
  await page.keyboard.press("Escape");
  assert.equal(await settled(page, "memory"), whole);
  await close(page);
});

test("aToggleTakesASeriesAwayAndBringsItBack", async () => {
  const page = await open(run2());
  const whole = await settled(page, "memory");
  const toggle = page.locator("#memory .chart-controls").getByText("floor", { exact: false }).first();
  await toggle.click();
  await page.mouse.move(5, 5);
  assert.notEqual(await settled(page, "memory"), whole);
  await toggle.click();
  await page.mouse.move(5, 5);
  assert.equal(await settled(page, "memory"), whole);
  await close(page);
});

test("processesAreNamedAndCanBeSwitchedOff", async () => {
  const page = await open(report("tree", hostileTree()));
  const before = await settled(page, "processes");
  const keys = page.locator("#processes button, #processes label");
  assert.ok((await keys.count()) >= 4);
  await page.locator("#processes").getByText("104", { exact: false }).first().click();
  await page.mouse.move(5, 5);
  assert.notEqual(await settled(page, "processes"), before);
  await close(page);
});

test("explanationsAndHindsightAreThere", async () => {
  const page = await open(run2());
  assert.match(await page.locator("#explanations").innerText(), /%/);
  assert.match(await page.locator("#replay").innerText(), /step \d+/);
  await close(page);
});

test("theChartIsRedrawnWhenTheThemeChanges", { skip: inFirefox && "the driver cannot change the theme" }, async () => {
  const page = await open(run2());
  const light = await settled(page, "memory");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForTimeout(200);
  assert.notEqual(await settled(page, "memory"), light);
  await close(page);
});
