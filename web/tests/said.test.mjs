// SPDX-License-Identifier: Apache-2.0
// The sentences that the program sends: their shape, and that the handbook explains every figure.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { readGlossary } from "../glossary.mjs";
import { corpus, report, sourceDir } from "./browser.mjs";
import { load } from "./bundle.mjs";
import { hostileTree, leakingLog, threeSamples } from "./inputs.mjs";

const { plainText, shortSentence } = await load("format.ts");

const handbook = readFileSync(join(sourceDir, "docs", "report-fields.md"), "utf8");
const explained = new Set(readGlossary(handbook).flatMap((group) => group.entries.flatMap((entry) => entry.keys)));

// What a report was given to show.
function saidIn(path) {
  const packed = /id="plateau-data">([^<]*)</.exec(readFileSync(path, "utf8"))[1];
  return JSON.parse(gunzipSync(Buffer.from(packed, "base64"))).runs[0].said;
}

const runs = {
  plateau: () => report("run2", corpus("model-garden/run2.log"), "--examples", "663", "--batch", "8", "--limit", "20GB"),
  undecided: () => report("run1", corpus("model-garden/run1.log"), "--limit", "32GB"),
  leak: () => report("leak", leakingLog(), "--epoch-steps", "100", "--total-steps", "5000"),
  tree: () => report("tree", hostileTree(), "--epoch-steps", "40"),
  spikes: () => report("spikes", corpus("dev/spikes_eval-2.csv.gz")),
  sawtooth: () => report("sawtooth", corpus("dev/sawtooth-1.csv.gz")),
  short: () => report("short", threeSamples()),
};
const roles = ["cause", "other-cause", "evidence", "outlook", "fix", "known-by", "missing", "confirm", "experiment"];

function sentencesOf(said) {
  const paragraphs = [...said.why, ...said.next];
  return [
    said.course.text, said.who, said.undecided, said.risk, said.peaks, ...said.evidence,
    ...paragraphs.flatMap(({ claim, detail }) => [claim, detail]),
    ...said.causes.flatMap(({ evidence, fix }) => [evidence, fix]),
    ...said.explanations.flatMap((each) => [...each.for, ...each.against]),
  ];
}

test("EverySentenceIsWordsAndFiguresThatTheHandbookExplains", () => {
  const used = new Set();
  for (const [name, write] of Object.entries(runs)) {
    const said = saidIn(write());
    for (const { role } of [...said.why, ...said.next]) assert.ok(roles.includes(role), `${name}: ${role}`);
    for (const fragment of sentencesOf(said).flat()) {
      const [text, field] = typeof fragment === "string" ? [fragment, null] : fragment;
      assert.ok(typeof text === "string" && text !== "", `${name}: ${JSON.stringify(fragment)}`);
      if (field !== null) used.add(field);
    }
  }
  assert.ok(used.size >= 20, [...used].join(" "));
  assert.deepEqual([...used].filter((field) => !explained.has(field)), []);
});

test("EveryFieldNamedInTheRoomOfWordsIsExplained", () => {
  const words = join(sourceDir, "src", "words");
  const named = new Set();
  const sources = readdirSync(words).filter((file) => file.endsWith(".cc") && !file.endsWith("_test.cc"));
  for (const text of sources.map((file) => readFileSync(join(words, file), "utf8"))) {
    if (!/\bfill\(|\bkFields\b/.test(text)) continue;
    // The last text of a slot or of a row of the fields: {"name", ..., "settled.step"}.
    for (const [, field] of text.matchAll(/,\s*"([a-z_]+(?:\[\])?(?:\.[a-z_]+)?)"\}/g)) named.add(field);
  }
  assert.ok(named.has("growth.rate_mb_per_step") && named.has("causes[].likelihood") && named.size >= 30, [...named].join(" "));
  assert.deepEqual([...named].filter((field) => !explained.has(field)), []);
});

test("JoinedFragmentsAreTheSentence", () => {
  assert.equal(plainText(["stays near ", ["17.4 GB", "settled.mb"], "."]), "stays near 17.4 GB.");
  assert.equal(plainText([]), "");
});

test("LongNamesAreShortenedAndFiguresKeepTheirField", () => {
  const long = "x".repeat(80);
  assert.deepEqual(shortSentence([`a ${long} b `, ["1 MB", "last_mb"], [long, "process.pid"]]), [
    `a ${"x".repeat(26)}…${"x".repeat(20)} b `,
    ["1 MB", "last_mb"],
    [`${"x".repeat(26)}…${"x".repeat(20)}`, "process.pid"],
  ]);
});
