// SPDX-License-Identifier: Apache-2.0
// A comparison as Markdown for an issue: the outcome, what differs, each side's own answer, and the
// terminal's report.

import { codeBlock, escapeMarkdown } from "./copy";
import type { ComparisonPage, PageData } from "./data";
import { percent, size } from "./format";
import { figureText } from "./sections/comparison_figures";

function differences(comparison: ComparisonPage): string[] {
  return comparison.changes.flatMap((change) => [
    "",
    `### ${escapeMarkdown(change.headline)}`,
    "",
    "| figure | before | after | difference | 99 % |",
    "|---|---|---|---|---|",
    ...change.figures.map((figure) => {
      const text = (value: number | null, signed: boolean) => escapeMarkdown(figureText(figure, change.clock, value, signed));
      const range = figure.low === null || figure.high === null ? "" : `${text(figure.low, true)} to ${text(figure.high, true)}`;
      const mark = figure.significant ? " \\*" : "";
      return `| ${escapeMarkdown(figure.title)} | ${text(figure.before, false)} | ${text(figure.after, false)} | ${text(figure.difference, true)}${mark} | ${range} |`;
    }),
    ...change.warnings.map((warning) => `\nNote: ${escapeMarkdown(warning)}`),
  ]);
}

export function comparisonMarkdown(data: PageData, comparison: ComparisonPage): string {
  const runs = data.runs.map(({ source, verdict }) => {
    const sure = verdict.confidence === null ? "" : ` (${percent(verdict.confidence)})`;
    const course = verdict.first_mb === null ? "" : `, ${size(verdict.first_mb)} → ${size(verdict.last_mb)}`;
    return `- ${escapeMarkdown(source)}: **${verdict.verdict}**, ${escapeMarkdown(verdict.headline)}${sure}${course}`;
  });
  return [
    `## ${comparison.stamp}: ${escapeMarkdown(comparison.said)}`,
    "",
    ...runs,
    ...differences(comparison),
    ...(comparison.text.trim() === "" ? [] : ["", "<details><summary>Terminal report</summary>", "", codeBlock(comparison.text), "", "</details>"]),
    "",
    `Compared by plateau ${escapeMarkdown(data.plateau)}; \\* is more than chance.`,
    "",
  ].join("\n");
}
