// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>

#include "share/markdown.h"
#include "share/mermaid_chart.h"
#include "share/svg_chart.h"

namespace plateau {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Level at 900 MB after a rise, 100 samples, with a name that would be markup.
Run run_of(double last_rate) {
  Run run;
  run.source = "<b>&\"run\x1b[31m\".log";
  run.processes.push_back({});
  run.series.push_back({.metric = Metric::rss});
  for (int i = 0; i < 100; ++i) {
    run.instants.push_back({.step = 10 * i});
    const double rise = i < 20 ? 30.0 * i : 600 + last_rate * (i - 20);
    run.series.front().mb.push_back(300 + rise + (i * 7919 % 13) * 0.1);
  }
  return run;
}

Verdict verdict_of(double last_rate) {
  const Run run = run_of(last_rate);
  Verdict verdict = judge(run);
  verdict.file = run.source;
  return verdict;
}

TEST(SvgChart, ShowsTheAnswerTheSeriesAndItsPhases) {
  const std::string svg = svg_chart(verdict_of(0));
  EXPECT_THAT(svg, StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_THAT(svg, HasSubstr("<tspan class=\"plateau\">PLATEAU</tspan> no leak"));
  EXPECT_THAT(svg, HasSubstr("<path class=\"floor\" d=\"M78.0"));
  EXPECT_THAT(svg, HasSubstr(">level</text>"));
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme:dark"));
}

TEST(SvgChart, NamesFromLogsAreTextAndNothingIsFetched) {
  const std::string svg = svg_chart(verdict_of(0));
  EXPECT_THAT(svg, HasSubstr("&lt;b&gt;&amp;&quot;run&quot;.log"));
  EXPECT_THAT(svg, Not(HasSubstr("<b>")));
  EXPECT_THAT(svg, Not(HasSubstr("href")));
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
}

TEST(SvgChart, NothingMeasuredIsSaidNotDrawn) {
  const std::string svg = svg_chart(judge(plateau::Run{}));
  EXPECT_THAT(svg, HasSubstr("too few samples to draw"));
  EXPECT_THAT(svg, Not(HasSubstr("<path")));
}

TEST(MermaidChart, SpansTheRunWithAsManyValuesAndTheHighestOfEachStretch) {
  Verdict verdict = verdict_of(0);
  verdict.plot[50].mb = 950;
  const std::string chart = mermaid_chart(verdict);
  EXPECT_THAT(chart, StartsWith("```mermaid\n%%{init: "));
  EXPECT_THAT(chart, HasSubstr("%%\nxychart-beta\n  x-axis \"step\" 0 --> 990\n"));
  EXPECT_THAT(chart, HasSubstr("  y-axis \"memory, MB\" "));
  EXPECT_THAT(chart, HasSubstr(", 950, "));
  const std::string values = chart.substr(chart.find("line ["));
  EXPECT_EQ(std::count(values.begin(), values.end(), ','), 59);
  EXPECT_EQ(mermaid_chart(judge(plateau::Run{})), "");
}

TEST(MermaidChart, FewSamplesAreJoinedByStraightLinesAndTheLimitIsDrawn) {
  plateau::Run run = run_of(0);
  run.instants.resize(20);
  run.series.front().mb.resize(20);
  run.context.limit_mb = Fact{1000, "--limit"};
  const std::string chart = mermaid_chart(judge(run));
  EXPECT_THAT(chart, HasSubstr("line [1, 1, 1, "));
  EXPECT_THAT(verdict_markdown(judge(run)), HasSubstr(chart));
  EXPECT_THAT(verdict_markdown(judge(run), "a.svg"), Not(HasSubstr("mermaid")));
}

TEST(Markdown, HeadingIsTheAnswerAndThePlotIsFolded) {
  const std::string text = verdict_markdown(verdict_of(0), "chart.svg");
  EXPECT_THAT(text, StartsWith("## PLATEAU: no leak"));
  EXPECT_THAT(text, HasSubstr("![memory over the run: plateau](<chart.svg>)"));
  EXPECT_THAT(text, HasSubstr("| samples | 100 |"));
  EXPECT_THAT(text, HasSubstr("<details><summary>Terminal report</summary>\n\n```text\nPLATEAU"));
}

TEST(Markdown, NamesFromLogsNeitherMarkUpNorNotify) {
  const std::string escaped = markdown_escaped("<img> *a* [x](y) `c` @team\n# no");
  EXPECT_EQ(escaped, "&lt;img&gt; \\*a\\* \\[x\\](y) \\`c\\` @\xE2\x80\x8Bteam \\# no");
  EXPECT_EQ(markdown_code_block("a ```` b\n"), "`````text\na ```` b\n`````\n");
  EXPECT_THAT(verdict_markdown(verdict_of(0)), Not(HasSubstr("Source: <b>")));
}

}  // namespace
}  // namespace plateau
