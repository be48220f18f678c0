// SPDX-License-Identifier: Apache-2.0
// The page writes numbers as the terminal does (src/base/units_test.cc, src/report/phrases_test.cc),
// and the handbook's tables become the glossary.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readGlossary } from "../glossary.mjs";
import { load } from "./bundle.mjs";

const { count, counted, duration, moment, percent, processName, rate, size, span } = await load("format.ts");

test("SizesHaveThreeDigitsAndUnitsOfAThousand", () => {
  assert.equal(size(17_400), "17.4 GB");
  assert.equal(size(999.6), "1.00 GB");
  assert.equal(size(0.25), "250 kB");
  assert.equal(size(9.996), "10.0 MB");
  assert.equal(size(0.0000005), "1 B");
  assert.equal(size(null), "–");
});

test("OneIsSingular", () => {
  assert.deepEqual([0, 1, 1250].map((n) => counted(n, "sample")), ["0 samples", "1 sample", "1,250 samples"]);
});

test("SharesKeepTheDigitsThatMeanSomething", () => {
  assert.deepEqual([0.87, 0.9985, 0.9999, 0.004, 0, null].map(percent), ["87 %", "99.9 %", "> 99.9 %", "< 1 %", "0 %", "–"]);
});

test("MomentsAndRatesSpeakTheRunsClock", () => {
  assert.equal(moment("step", 1250), "step 1,250");
  assert.equal(moment("second", 7200), "2.0 h");
  assert.equal(rate("step", 167), "+167 MB/step");
  assert.equal(rate("second", 0.02), "+1.20 MB/min");
  assert.equal(span("step", 10, 83), "steps 10–83");
  assert.equal(duration(90), "90 s");
  assert.equal(duration(-0.3), "0 s");
  assert.equal(count(1234567), "1,234,567");
});

test("AProcessIsNamedByWhatIsKnownOfIt", () => {
  assert.equal(processName({ name: "python", pid: 42, role: "data worker" }), "python (pid 42, data worker)");
  assert.equal(processName({ name: null, pid: null, role: null, index: 3 }), "process 3");
});

test("TheGlossaryExpandsShortKeysAndTellsColumnsApart", () => {
  const groups = readGlossary(
    "## What\n\n| JSON | terminal | meaning, unit | source | cannot see |\n|---|---|---|---|---|\n" +
      "| `settled.step`, `.mb` | \"level\" | since [when](x.md) `a\\|b` | floor | spikes |\n| – | \"highest\" | top | log | |\n",
  );
  assert.equal(groups.length, 1);
  const [settled, highest] = groups[0].entries;
  assert.deepEqual(settled.keys, ["settled.step", "settled.mb"]);
  assert.equal(settled.meaning, "since when `a|b`");
  assert.equal(settled.source, "floor");
  assert.equal(settled.blind, "spikes");
  assert.deepEqual(highest.keys, []);
  assert.notEqual(highest.id, settled.id);
});

test("AHandbookWithoutTablesFailsTheBuild", () => {
  assert.throws(() => readGlossary("## What\n\nnothing\n"), /no table/);
});
