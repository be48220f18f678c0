// SPDX-License-Identifier: Apache-2.0
// Which numbers of a sentence are links, and to what; that all those entries are in the handbook.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { readGlossary } from "../glossary.mjs";
import { load } from "./bundle.mjs";

const { partsOf } = await load("said_numbers.ts");
const links = (text, about) => partsOf(text, about).flatMap(({ text: shown, key }) => (key === null ? [] : [[shown, key]]));

test("ANumberIsToldByItsUnitAndItsNeighbours", () => {
  assert.deepEqual(links("Grew 5.43 → 17.4 GB over steps 10–83 (+167 MB/step, 20.9 MB per example seen first; 90 %: 165–174 MB/step)", "steps.first"), [
    ["5.43 → 17.4 GB", "first_mb"],
    ["10–83", "steps.first"],
    ["+167 MB/step", "growth.rate_mb_per_step"],
    ["20.9 MB per example", "mb_per_example"],
    ["90 %", "growth.rate_low"],
    ["165–174 MB/step", "growth.rate_mb_per_step"],
  ]);
  assert.deepEqual(links("out of memory before the end: 46 % (limit 20.0 GB); passed at step 1,392", "risk.oom"), [
    ["46 %", "risk.oom"],
    ["20.0 GB", "risk.limit_mb"],
    ["1,392", "risk.oom"],
  ]);
  assert.deepEqual(links("python (pid 4242, data worker): 98 % of the growth", "processes[].share"), [
    ["4242", "process.pid"],
    ["98 %", "processes[].share"],
  ]);
});

test("AShareKeepsItsSign", () => {
  assert.deepEqual(links("process 3 grew +217 MB: > 99.9 % of it", "processes[].share"), [
    ["3", "processes[].share"],
    ["+217 MB", "processes[].share"],
    ["> 99.9 %", "processes[].share"],
  ]);
});

test("WhatIsPartOfANameIsNoNumber", () => {
  assert.deepEqual(links("load (ImageFile.py:245) in python3.11 /tmp/7/x v2", "evidence[]"), []);
});

test("NothingOfTheSentenceIsLost", () => {
  for (const text of ["", "12", "a 1 b 2.", "<b>3</b> & 4,000 MB", "5,"]) {
    assert.equal(partsOf(text, "x").map((part) => part.text).join(""), text);
  }
});

test("EveryKeyIsExplained", () => {
  const here = dirname(fileURLToPath(import.meta.url));
  const handbook = readFileSync(join(here, "..", "..", "docs", "report-fields.md"), "utf8");
  const known = new Set(readGlossary(handbook).flatMap((group) => group.entries.flatMap((entry) => entry.keys)));
  const source = readFileSync(join(here, "..", "src", "said_numbers.ts"), "utf8");
  const used = [...source.matchAll(/key: "([^"]+)"/g)].map((match) => match[1]);
  assert.ok(used.length >= 8);
  assert.deepEqual(used.filter((key) => !known.has(key)), []);
});
