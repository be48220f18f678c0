// SPDX-License-Identifier: Apache-2.0
// The live page: it follows a job that runs, survives the job's end and a lost connection.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer, connect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { close, open, plateau, scratch, start } from "./browser.mjs";

// Takes 1 MB with each of its steps, ten a second, until a file called `stop` is there.
const job = join(scratch, "job.py");
writeFileSync(job, `
import os, sys, time
kept, step = [], 0
while not os.path.exists(sys.argv[1]):
    step += 1
    kept.append(bytearray(os.urandom(1024)) * 1024)
    print(f"Step {step}", flush=True)
    time.sleep(0.1)
`);

function record(name) {
  const recording = join(scratch, `${name}.plateau`);
  const stop = join(scratch, `${name}.stop`);
  const run = start(plateau, ["run", "-q", "-o", recording, "--", "/usr/bin/python3", job, stop]);
  return { recording, run, end: async () => { writeFileSync(stop, ""); await run.ended; } };
}

// `look` runs in the page; as a function, because the page's policy refuses text that would be run.
const until = async (what, page, look, argument) => {
  await page.waitForFunction(look, argument, { timeout: 60000 }).catch(() => assert.fail(what));
};

const exists = async (path) => {
  for (let i = 0; i < 400 && !existsSync(path); ++i) await new Promise((resolve) => setTimeout(resolve, 50));
};

// How many samples the page draws, as its own hint says.
const samples = (page) => page.locator("#memory").innerText().then((text) => Number(/([\d,]+) samples/.exec(text)[1].replace(",", "")));
const hasMore = (than) => {
  const hint = document.querySelector("#memory")?.innerText ?? "";
  return Number(/([\d,]+) samples/.exec(hint)?.[1].replace(",", "")) > than;
};
const saysStatus = (pattern) =>
  [...document.querySelectorAll('[role="status"]')].some((each) => new RegExp(pattern).test(each.textContent));

test("thePageFollowsARunningJobToItsEnd", async () => {
  const { recording, end } = record("follow");
  await exists(recording);
  const server = start(plateau, ["serve", recording, "--listen", "127.0.0.1:0"]);
  const [url] = await server.line(/http:\/\/127\.0\.0\.1:\d+\/\S*/);
  const page = await open(url);
  await page.locator("#memory .plot-focus").first().waitFor({ timeout: 60000 });
  assert.match(await page.getByRole("status").first().innerText(), /live/);
  const before = await samples(page);
  await until("new samples are drawn", page, hasMore, before + 5);
  await end();
  await until("the end is told", page, saysStatus, "ended");
  assert.match(await page.locator("h1").first().innerText(), /undecided|leak|warming|plateau/i);
  await close(page);
  await server.stop();
});

test("zoomSurvivesAnUpdate", async () => {
  const { recording, end } = record("zoom");
  await exists(recording);
  const server = start(plateau, ["serve", recording, "--listen", "127.0.0.1:0"]);
  const [url] = await server.line(/http:\/\/127\.0\.0\.1:\d+\/\S*/);
  const page = await open(url);
  const chart = page.locator("#memory .plot-focus").first();
  await chart.waitFor({ timeout: 60000 });
  await until("some samples", page, hasMore, 20);
  await chart.focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("+");
  const button = page.getByRole("button", { name: /reset zoom|show all/i }).first();
  await button.waitFor();
  const before = await samples(page);
  await until("new samples", page, hasMore, before + 5);
  assert.ok(await button.isVisible(), "still zoomed");
  await end();
  await close(page);
  await server.stop();
});

// Stands between the page and the server, so that the connection can be cut and mended.
function relay(port) {
  const open_ones = new Set();
  const between = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const socket of [near, far]) {
      open_ones.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => { near.destroy(); far.destroy(); open_ones.delete(socket); });
    }
    near.pipe(far);
    far.pipe(near);
  });
  const listen = (at) => new Promise((resolve) => between.listen(at, "127.0.0.1", resolve));
  return {
    start: async (at = 0) => { await listen(at); return between.address().port; },
    cut: async () => {
      for (const socket of open_ones) socket.destroy();
      await new Promise((resolve) => between.close(resolve));
    },
  };
}

test("aLostConnectionIsSaidAndMended", async () => {
  const { recording, end } = record("lost");
  await exists(recording);
  const server = start(plateau, ["serve", recording, "--listen", "127.0.0.1:0"]);
  const [, port] = await server.line(/http:\/\/127\.0\.0\.1:(\d+)\//);
  const between = relay(Number(port));
  const near = await between.start();
  const page = await open(`http://127.0.0.1:${near}/`);
  await page.locator("#memory .plot-focus").first().waitFor({ timeout: 60000 });
  await between.cut();
  await until("the loss is told", page, saysStatus, "lost");
  assert.ok(await page.locator("#memory .plot-focus").first().isVisible(), "what was there stays");
  const before = await samples(page);
  await between.start(near);
  await until("it is live again", page, saysStatus, "^live");
  await until("and goes on", page, hasMore, before);
  await end();
  // The browser itself complains of each attempt that was refused; nothing else may be there.
  for (const line of page.trouble) assert.match(line, /ERR_|request failed/);
  await page.context().close();
  await between.cut();
  await server.stop();
});

test("aFolderIsAListOfRuns", async () => {
  const one = record("one");
  const two = record("two");
  await exists(one.recording);
  await exists(two.recording);
  const server = start(plateau, ["serve", scratch, "--listen", "127.0.0.1:0"]);
  const [url] = await server.line(/http:\/\/127\.0\.0\.1:\d+\/\S*/);
  const page = await open(url);
  await page.getByRole("link", { name: /one\.plateau/ }).click();
  await page.locator("#memory .plot-focus").first().waitFor({ timeout: 60000 });
  await page.getByRole("link", { name: /All \d+ runs/ }).click();
  await page.getByRole("link", { name: /two\.plateau/ }).waitFor();
  await one.end();
  await two.end();
  await close(page);
  await server.stop();
});

test("anEmptyFolderSaysSoAndFillsByItself", async () => {
  const folder = join(scratch, "empty");
  mkdirSync(folder);
  const server = start(plateau, ["serve", folder, "--listen", "127.0.0.1:0"]);
  const [url] = await server.line(/http:\/\/127\.0\.0\.1:\d+\/\S*/);
  const page = await open(url);
  await page.getByText("No recording here yet").waitFor();
  const later = record(join("empty", "later"));
  await page.locator("#memory .plot-focus").or(page.getByRole("link", { name: /later\.plateau/ })).first().waitFor({ timeout: 60000 });
  await later.end();
  await close(page);
  await server.stop();
});
