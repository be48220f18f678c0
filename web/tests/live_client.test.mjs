// SPDX-License-Identifier: Apache-2.0
// The live client against a pretended server: when it fetches, what it says of the connection, and
// that it recovers. The same with the real server and a real browser: live.test.mjs.
import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { load } from "./bundle.mjs";

const { LiveClient, runInHash } = await load("live_client.ts");

let streams = []; // Every EventSource that was opened.
let replies = []; // Requests that wait for their answer.
let runs = [];

class PretendedEvents {
  constructor(url) {
    this.url = url;
    this.on = {};
    this.open = true;
    streams.push(this);
  }
  addEventListener(name, call) {
    this.on[name] = call;
  }
  close() {
    this.open = false;
  }
  say(state) {
    this.on.state({ data: JSON.stringify({ id: "a", name: "a", live: true, word: "leak", trouble: null, ...state }) });
  }
}

const settle = () => new Promise((resolve) => setImmediate(resolve));
const pages = () => replies.filter((reply) => reply.url.startsWith("/api/page"));
const answer = (reply, body) => reply.resolve({ ok: true, json: async () => body });

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  streams = [];
  replies = [];
  runs = [{ id: "a" }, { id: "b" }];
  globalThis.EventSource = PretendedEvents;
  globalThis.location = { href: "http://x/?token=secret#run=a", hash: "#run=a" };
  globalThis.history = { replaceState: (_state, _title, url) => (globalThis.location.href = String(url)) };
  Object.defineProperty(globalThis, "navigator", { value: { cookieEnabled: true }, configurable: true });
  globalThis.fetch = (url) => {
    if (url.startsWith("/api/runs")) return Promise.resolve({ ok: true, json: async () => ({ runs }) });
    return new Promise((resolve) => replies.push({ url, resolve }));
  };
});

function start() {
  const client = new LiveClient(() => {});
  return client;
}

test("TheTokenLeavesTheAddressOnceTheCookieHoldsIt", () => {
  const client = start();
  assert.equal(globalThis.location.href, "http://x/#run=a");
  assert.equal(streams[0].url, "/events?run=a");
  client.close();
});

test("WithoutCookiesTheTokenGoesWithEveryRequest", () => {
  Object.defineProperty(globalThis, "navigator", { value: { cookieEnabled: false }, configurable: true });
  const client = start();
  assert.equal(streams[0].url, "/events?run=a&token=secret");
  client.close();
});

test("ManyEventsMakeOneRequestAtATime", async () => {
  const client = start();
  for (const version of [1, 2, 3]) streams[0].say({ version });
  assert.equal(pages().length, 1);
  answer(pages()[0], { runs: ["first"] });
  await settle();
  assert.equal(pages().length, 2, "what came meanwhile is fetched once");
  answer(pages()[1], { runs: ["second"] });
  await settle();
  streams[0].say({ version: 3 });
  assert.equal(pages().length, 2, "nothing new, nothing fetched");
  assert.deepEqual(client.view.data.runs, ["second"]);
  client.close();
});

test("ALostConnectionIsTriedAgainWithGrowingPausesAndKeepsWhatIsShown", async () => {
  const client = start();
  streams[0].say({ version: 1 });
  answer(pages()[0], { runs: ["kept"] });
  await settle();
  streams[0].on.error();
  assert.equal(client.view.link, "lost");
  assert.deepEqual(client.view.data.runs, ["kept"]);
  assert.equal(streams[0].open, false);
  mock.timers.tick(999);
  assert.equal(streams.length, 1);
  mock.timers.tick(1);
  assert.equal(streams.length, 2);
  streams[1].on.error();
  mock.timers.tick(1999);
  assert.equal(streams.length, 2);
  mock.timers.tick(1);
  streams[2].say({ version: 1 });
  assert.equal(client.view.link, "live");
  client.close();
});

test("AServerThatCountsAnewIsFetchedFrom", async () => {
  const client = start();
  streams[0].say({ version: 9 });
  answer(pages()[0], { runs: ["old"] });
  await settle();
  streams[0].on.error();
  mock.timers.tick(1000);
  streams[1].say({ version: 1 });
  assert.equal(pages().length, 2);
  client.close();
});

test("AServerThatGoesWithItsJobIsNotCalledLost", () => {
  const client = start();
  streams[0].say({ version: 1, live: false });
  assert.equal(client.view.link, "ended");
  streams[0].on.error();
  assert.equal(client.view.link, "ended");
  client.close();
});

test("AReplyForARunThatIsNoLongerShownIsDropped", async () => {
  const client = start();
  streams[0].say({ version: 1 });
  client.select("b");
  assert.equal(streams[0].open, false);
  answer(pages()[0], { runs: ["of a"] });
  await settle();
  assert.equal(client.view.data, null);
  client.close();
});

test("TheOnlyRunIsOpenedByItself", async () => {
  runs = [{ id: "only" }];
  globalThis.location = { href: "http://x/", hash: "" };
  const client = start();
  await settle();
  await settle();
  assert.equal(client.view.selected, "only");
  client.close();
});

test("OnlyAHashThatNamesARunChoosesOne", () => {
  assert.equal(runInHash("#run=a%2Fb"), "a/b");
  assert.equal(runInHash("#memory"), null);
  assert.equal(runInHash("#run=%zz"), null);
});
