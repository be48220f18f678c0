// SPDX-License-Identifier: Apache-2.0
// "Copy for an issue": what lands on the clipboard, and that no name in it becomes markup.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./bundle.mjs";

const { codeBlock, escapeMarkdown, markdown } = await load("copy.ts");

function run(changes = {}) {
  return {
    source: "run2.log",
    title: null,
    format: "text log",
    command: "python train.py --name `id`",
    host: null,
    started_unix_s: null,
    ending: null,
    clock: "step",
    said: {
      headline: "no leak · 99.9 %",
      course: { label: "Grew", text: [["5.43 → 17.4 GB", "first_mb"], " over ", ["steps 10–83", "steps.first"], "."] },
      since: "level since step 83",
      who: [["python (pid 7, <b>worker</b>)", "process.pid"], " grew most."],
      site: null,
      why: [],
      next: [
        { role: "outlook", lead: "", claim: ["stays near ", ["17.4 GB", "settled.mb"], "."], detail: [] },
        { role: "confirm", lead: "Confirm:", claim: ["run it twice"], detail: [": no growth."] },
      ],
      undecided: [],
      risk: [],
      peaks: [],
      text: "PLATEAU   no leak\n```\n",
    },
    verdict: {
      verdict: "plateau",
      confidence: 0.999,
      headline: "no leak",
      steps: { first: 10, last: 240 },
      first_mb: 5430,
      last_mb: 17035,
      growth: { rate_mb_per_step: 167 },
      current_rate_mb_per_step: 0,
      settled: { step: 83, mb: 17400 },
      forecast: null,
      risk: { oom: null, at_step: null, limit_mb: 20000 },
      samples: 24,
      causes: [{ name: "example_cache", weight: 0.79, evidence: "grew until step 83", confirm: "run | it twice" }],
      advice: [{ cause: "example_cache", title: "per-example cache", fix: "give it a size" }],
      warnings: [],
    },
    context: [{ name: "examples", value: 663, unit: "", source: "--examples" }],
    ...changes,
  };
}

test("TheMarkdownHasTheAnswerFirstThenFiguresCausesNextAndTheTerminalReport", () => {
  const text = markdown(run(), "1.2.3");
  assert.match(text, /^## PLATEAU: no leak \(99\.9 %\)\n/);
  const order = ["**Grew:**", "| figure | value |", "### Causes", "### Next", "### Context", "Terminal report", "plateau 1.2.3"];
  const places = order.map((each) => text.indexOf(each));
  assert.ok(places.every((place) => place > 0), `missing: ${order[places.indexOf(-1)]}`);
  assert.deepEqual(places, [...places].sort((a, b) => a - b));
  assert.match(text, /\*\*Grew:\*\* 5\.43 → 17\.4 GB over steps 10–83\.\n/);
  assert.match(text, /^- stays near 17\.4 GB\.\n- Confirm: run it twice: no growth\.$/m);
  assert.doesNotMatch(text, /\*\*(Peaks|Risk):/);
  assert.match(text, /\| level \| 17\.4 GB since step 83 \|/);
  assert.match(text, /Confirm: run \\\| it twice/);
});

test("NamesOfProcessesAreNotMarkup", () => {
  const text = markdown(run(), "1");
  assert.ok(!text.includes("<b>worker"));
  assert.ok(text.includes("&lt;b&gt;worker&lt;/b&gt;"));
});

test("WhatWouldBeMarkdownIsEscaped", () => {
  assert.equal(escapeMarkdown("a_b*c [x](y)"), "a\\_b\\*c \\[x\\](y)");
  assert.equal(escapeMarkdown("# title\n\n- item"), "\\# title - item");
  assert.equal(escapeMarkdown("- item"), "\\- item");
  assert.equal(escapeMarkdown("<script>alert(1)</script>"), "&lt;script&gt;alert(1)&lt;/script&gt;");
  assert.equal(escapeMarkdown("@someone"), "@\u200bsomeone");
});

test("ACodeBlockIsFencedLongerThanAnyFenceInside", () => {
  assert.equal(codeBlock("a\n"), "```text\na\n```");
  assert.match(codeBlock("x ```` y"), /^`````text\n/);
});

test("AnUndecidedRunClaimsNoConfidence", () => {
  const undecided = run();
  undecided.verdict.verdict = "undecided";
  undecided.verdict.headline = "cannot tell";
  assert.match(markdown(undecided, "1"), /^## UNDECIDED: cannot tell\n/);
});
