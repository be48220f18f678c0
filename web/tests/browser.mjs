// SPDX-License-Identifier: Apache-2.0
// What the browser tests share: a real browser, real reports written by the built binary, and checks
// that every page must pass.
//
// PLATEAU is the binary, SOURCE_DIR the repository, BROWSER chromium (if nothing is said) or firefox,
// which is spoken to by WebDriver BiDi: Debian's own will do. Each test file starts its own browser and ends it;
// what is written goes to a scratch directory that goes away.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { chromium, firefox } from "playwright-core";

const wanted = (name) => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; run these tests by ctest -R ^web`);
  return value;
};
export const plateau = wanted("PLATEAU");
export const sourceDir = wanted("SOURCE_DIR");
export const corpus = (name) => join(sourceDir, "corpus", name);

export const inFirefox = process.env.BROWSER === "firefox";
export const scratch = mkdtempSync(join(tmpdir(), "plateau-page-"));
after(() => rmSync(scratch, { recursive: true, force: true }));

let browser = null;
after(async () => browser?.close());
export async function theBrowser() {
  browser ??= await (inFirefox
    ? firefox.launch({ channel: "moz-firefox", executablePath: process.env.FIREFOX ?? "/usr/bin/firefox-esr" })
    : chromium.launch({
        executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
        // Root, as in a container, has no sandbox; a small /dev/shm is not used.
        args: ["--no-sandbox", "--disable-dev-shm-usage"],
      }));
  return browser;
}

// Writes a report and returns its path.
export function report(name, ...args) {
  const path = join(scratch, `${name}.html`);
  execFileSync(plateau, ["report", ...args, "-o", path, "--force"], { stdio: ["ignore", "pipe", "pipe"] });
  return path;
}

// A page in which nothing may go wrong: errors and refused resources are kept and checked by close().
// `first` runs in the page before its own script does.
export async function open(url, { first, ...options } = {}) {
  const context = await (await theBrowser()).newContext({
    viewport: { width: 1280, height: 800 },
    ...options,
  });
  const page = await context.newPage();
  if (first !== undefined) await page.addInitScript(first);
  page.trouble = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") page.trouble.push(message.text());
  });
  page.on("pageerror", (error) => page.trouble.push(String(error)));
  page.on("requestfailed", (request) => {
    // The page itself ends the events of a run that it no longer shows.
    const aborted = /ERR_ABORTED|NS_BINDING_ABORTED/.test(request.failure()?.errorText ?? "");
    if (!aborted) page.trouble.push(`request failed: ${request.url()}`);
  });
  page.requests = [];
  page.on("request", (request) => page.requests.push(request.url()));
  await page.goto(url.includes("://") ? url : `file://${url}`);
  await page.waitForSelector("main", { timeout: 20000 });
  return page;
}

export async function close(page) {
  assert.deepEqual(page.trouble, [], "the console is clean");
  await page.context().close();
}

// axe-core's findings, as one line each; empty when the page is accessible as far as it can tell.
export async function accessibility(page) {
  const require = createRequire(import.meta.url);
  // Not by a script element: the page's policy would refuse it, as it should.
  await page.evaluate(readFileSync(require.resolve("axe-core/axe.min.js"), "utf8"));
  const found = await page.evaluate(() =>
    globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"] }));
  return found.violations.map(
    (v) => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.target.join(" ")).join(" | ")}`);
}

// Is all of `locator` on the first screen, without scrolling?
export async function onFirstScreen(page, locator) {
  const box = await locator.boundingBox();
  const { height, width } = page.viewportSize();
  return box !== null && box.y >= 0 && box.y + box.height <= height && box.x >= 0 && box.x + box.width <= width;
}

// A program of ours that goes on until stop() is called; `line` waits for a line of its output.
export function start(program, args, options = {}) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
  let text = "";
  const waiting = [];
  const take = (chunk) => {
    text += chunk;
    for (const look of waiting) look();
  };
  child.stdout.on("data", take);
  child.stderr.on("data", take);
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const line = (pattern) => new Promise((resolve, reject) => {
    const look = () => {
      const match = pattern.exec(text);
      if (match) resolve(match);
    };
    waiting.push(look);
    ended.then(() => { look(); reject(new Error(`ended without ${pattern}:\n${text}`)); });
    look();
  });
  const stop = async (signal = "SIGTERM") => {
    child.kill(signal);
    await ended;
  };
  after(() => child.kill("SIGKILL"));
  return { child, line, stop, ended, output: () => text };
}
