// SPDX-License-Identifier: Apache-2.0
// The run as Markdown for an issue: the answer, the key figures, causes, what to do, context, and
// the terminal's own report with its plot. Names and sentences are data here too: whatever would be
// Markdown or HTML in them is escaped, and code blocks are fenced longer than any fence inside.

import type { RunPage } from "./data";
import { count, dateTime, moment, percent, plainText, rate, size, span } from "./format";

export function escapeMarkdown(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line
    .replace(/[\\`*_{}[\]#|~]/g, "\\$&")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replace(/@(?=\w)/g, "@\u200b") // Notifies nobody.
    .replace(/^([-+]|\d+\.)(?=\s)/, "\\$1");
}

export function codeBlock(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((match) => match[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${text.replace(/\s+$/, "")}\n${fence}`;
}

function figures(run: RunPage): [string, string][] {
  const { verdict, clock } = run;
  const rows: [string, string | null][] = [
    ["memory", verdict.first_mb === null ? null : `${size(verdict.first_mb)} → ${size(verdict.last_mb)}`],
    ["over", verdict.steps.first === null ? null : span(clock, verdict.steps.first, verdict.steps.last)],
    ["growth while it lasted", verdict.growth.rate_mb_per_step === null ? null : rate(clock, verdict.growth.rate_mb_per_step)],
    ["growth now", verdict.current_rate_mb_per_step === null ? null : verdict.current_rate_mb_per_step === 0 ? "level" : rate(clock, verdict.current_rate_mb_per_step)],
    ["level", verdict.settled === null ? null : `${size(verdict.settled.mb)} since ${moment(clock, verdict.settled.step)}`],
    ["would level near", verdict.settled !== null || verdict.forecast === null ? null : size(verdict.forecast.plateau_mb)],
    ["limit", verdict.risk.limit_mb === null ? null : size(verdict.risk.limit_mb)],
    ["out of memory", verdict.risk.oom === null ? null : percent(verdict.risk.oom)],
    ["samples", count(verdict.samples)],
  ];
  return rows.filter((row): row is [string, string] => row[1] !== null);
}

function answer(run: RunPage): string[] {
  const { said, verdict } = run;
  const sure = verdict.confidence === null || verdict.verdict === "undecided" ? "" : ` (${percent(verdict.confidence)})`;
  const lines = [`## ${verdict.verdict.toUpperCase()}: ${escapeMarkdown(verdict.headline)}${sure}`, ""];
  const item = (name: string, text: string | null) => {
    if (text !== null && text !== "") lines.push(`- **${name}:** ${escapeMarkdown(text)}`);
  };
  item(said.course.label, plainText(said.course.text));
  item("Since", said.since);
  item("Process", plainText(said.who));
  item("Place", said.site);
  item("Peaks", plainText(said.peaks));
  item("Risk", plainText(said.risk));
  return lines;
}

function causes(run: RunPage): string[] {
  const { verdict } = run;
  if (verdict.causes.length === 0) return [];
  const lines = ["", "### Causes", ""];
  for (const cause of verdict.causes) {
    const advice = verdict.advice.find((each) => each.cause === cause.name);
    const tail = cause.evidence === "" ? "" : `: ${escapeMarkdown(cause.evidence)}`;
    lines.push(`1. **${escapeMarkdown(advice?.title ?? cause.name)}**, ${cause.likelihood}${tail}`);
    if (cause.confirm !== "") lines.push(`   - Confirm: ${escapeMarkdown(cause.confirm)}`);
    if (advice !== undefined && advice.fix !== null) lines.push(`   - Fix: ${escapeMarkdown(advice.fix)}`);
  }
  return lines;
}

function context(run: RunPage): string[] {
  const lines = ["", "### Context", ""];
  lines.push(`- Source: ${escapeMarkdown(run.source)} (${escapeMarkdown(run.format)})`);
  if (run.started_unix_s !== null) lines.push(`- Started: ${dateTime(run.started_unix_s)}`);
  if (run.ending !== null && run.ending.text !== "") lines.push(`- Ended: ${escapeMarkdown(run.ending.text)}`);
  for (const fact of run.context) {
    const value =
      typeof fact.value === "string"
        ? escapeMarkdown(fact.value)
        : fact.unit === "MB"
          ? size(fact.value)
          : `${count(fact.value)} ${fact.unit}`.trim();
    lines.push(`- ${escapeMarkdown(fact.name)}: ${value} (${escapeMarkdown(fact.source)})`);
  }
  if (run.command !== null) lines.push("", codeBlock(run.command));
  return lines;
}

export function markdown(run: RunPage, version: string): string {
  const next = run.said.next.map(({ lead, claim, detail }) => `- ${escapeMarkdown(`${lead} ${plainText([...claim, ...detail])}`)}`);
  const doubts = run.verdict.warnings.map((text) => `- Note: ${escapeMarkdown(text)}`);
  return [
    ...answer(run),
    "",
    "| figure | value |",
    "|---|---|",
    ...figures(run).map(([name, value]) => `| ${name} | ${escapeMarkdown(value)} |`),
    ...causes(run),
    ...(next.length === 0 ? [] : ["", "### Next", "", ...next]),
    ...(doubts.length === 0 ? [] : ["", ...doubts]),
    ...context(run),
    ...(run.said.text.trim() === "" ? [] : ["", "<details><summary>Terminal report</summary>", "", codeBlock(run.said.text), "", "</details>"]),
    "",
    `Reported by plateau ${escapeMarkdown(version)}.`,
    "",
  ].join("\n");
}
