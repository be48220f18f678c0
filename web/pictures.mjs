// SPDX-License-Identifier: Apache-2.0
// First screens of reports as pictures: node web/pictures.mjs DIR NAME... reads DIR/NAME.html and
// writes DIR/NAME.png. tools/pictures.sh makes those of the docs.
import { join, resolve } from "node:path";
import { chromium } from "playwright-core";

const [directory, ...names] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-dev-shm-usage"],
});
for (const name of names) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(`file://${resolve(directory, `${name}.html`)}`);
  await page.locator("canvas").first().waitFor();
  await page.waitForTimeout(300);
  await page.screenshot({ path: join(directory, `${name}.png`) });
  await page.close();
}
await browser.close();
