// SPDX-License-Identifier: Apache-2.0
#include "report/terminal.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "report/example_verdicts.h"
#include "report/explain.h"
#include "report/plot.h"
#include "report/printable.h"
#include "report/replay.h"
#include "report/sentences.h"

namespace plateau {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr View kPlain = {.width = 100, .color = false, .utf8 = true, .plot = false};

TEST(TerminalReport, FirstLineIsTheAnswer) {
  EXPECT_THAT(render_verdict(plateau_example(), kPlain),
              StartsWith("PLATEAU   no leak · 99.9 %\n"));
}

TEST(TerminalReport, WordIsColouredOnlyWhenAsked) {
  View view = kPlain;
  view.color = true;
  EXPECT_THAT(render_verdict(leak_example(), view), StartsWith("\x1b[1;31mLEAK"));
  EXPECT_THAT(render_verdict(leak_example(), kPlain), Not(HasSubstr("\x1b")));
}

TEST(TerminalReport, UndecidedNamesTheTieWhereEachLeadsAndWhenItWillKnow) {
  const std::string text = render_verdict(undecided_example(), kPlain);
  EXPECT_THAT(text, HasSubstr("level near 17.8 GB from step 83"));
  EXPECT_THAT(text, HasSubstr("passes the limit of 20.0 GB at step 95"));
  EXPECT_THAT(text, HasSubstr("known by step 90"));
  EXPECT_THAT(text, HasSubstr("Cheaper: train on 80 examples"));
}

TEST(TerminalReport, CourseIsNamedByWhatHappened) {
  Verdict verdict = undecided_example();
  EXPECT_EQ(course_of(verdict).label, "Grew");
  verdict.rate_range = {-3, 2};
  EXPECT_THAT(course_of(verdict).text, HasSubstr("cannot be told from zero"));
  verdict.rate_mb_per_step = -2;
  verdict.rate_range = {-3, -1};
  EXPECT_EQ(course_of(verdict).label, "Fell");
  EXPECT_EQ(course_of(spikes_example()).label, "Level");
  verdict.samples = 1;
  EXPECT_THAT(course_of(verdict).text, HasSubstr("one sample has no direction"));
}

TEST(TerminalReport, EachFactIsToldOnce) {
  const std::vector<std::string> told = {"Growth stopped where the first pass ended: step 83.",
                                         "20.9 MB stay in memory per example seen first."};
  EXPECT_TRUE(already_said("growth stopped at the end of the first pass (step 83)", told));
  EXPECT_FALSE(already_said("the parent is level while a worker grows", told));
  EXPECT_FALSE(already_said("", told));

  Verdict verdict = plateau_example();
  verdict.evidence.insert(verdict.evidence.begin(),
                          "Grew 5.43 GB → 17.7 GB over steps 10–83 (+168 MB/step).");
  EXPECT_THAT(render_verdict(verdict, kPlain), Not(HasSubstr("Grew 5.43 GB")));
}

TEST(TerminalReport, MissingInformationIsAskedFor) {
  Verdict verdict = undecided_example();
  verdict.missing = "--examples and --batch.";
  EXPECT_THAT(render_verdict(verdict, kPlain), HasSubstr("Would decide: --examples and --batch."));
}

TEST(TerminalReport, GrowingChildAndReclaimablePagesAreNamed) {
  const std::string text = render_verdict(leak_example(), kPlain);
  EXPECT_THAT(text, HasSubstr("python (pid 4243, data worker) grew +3.18 GB"));
  EXPECT_THAT(text, HasSubstr("reclaimable"));
}

TEST(TerminalReport, RiskSaysWhetherAndWhen) {
  EXPECT_THAT(render_verdict(undecided_example(), kPlain),
              HasSubstr("out of memory before the end: 46 % (limit 20.0 GB); if it grows on, the"));
  EXPECT_THAT(risk_of(plateau_example()), IsEmpty());
}

TEST(TerminalReport, TextFromLogsCannotReachTheTerminal) {
  Verdict verdict = leak_example();
  const std::string attack =
      "\x1b[2J\x1b]0;owned\x07\r\nfake \xc2\x9b"
      "31m";
  verdict.file = verdict.title = verdict.headline = verdict.component = attack;
  verdict.evidence = verdict.warnings = {attack};
  verdict.process->name = verdict.processes[0].name = attack;
  verdict.causes[0].evidence = verdict.causes[0].confirm = verdict.causes[0].title = attack;
  verdict.explanations[0].words = verdict.experiment = verdict.missing = attack;
  verdict.explanations[0].speaks_for = {attack};
  verdict.components[0].name = attack;
  const std::string all = render_verdict(verdict, kPlain) + render_line(verdict, kPlain) +
                          render_explain(verdict, kPlain) +
                          render_replay(std::vector<Verdict>{verdict}, kPlain, true);
  for (const char c : all) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
  EXPECT_THAT(all, Not(HasSubstr("\xc2\x9b")));
}

TEST(TerminalReport, AbsurdNumbersAreShownNotCrashedOn) {
  const double odd[] = {std::nan(""), std::numeric_limits<double>::infinity(), -1e300, 1e300};
  for (const double value : odd) {
    Verdict verdict = undecided_example();
    verdict.rate_mb_per_step = verdict.last_step = verdict.first_mb = verdict.confidence = value;
    verdict.epoch_steps = verdict.decides_at_step = verdict.risk.limit_mb = value;
    verdict.forecast->plateau_mb = value;
    verdict.explanations[0].plateau_mb = value;
    verdict.plot.push_back({.step = 80, .mb = value});
    verdict.plot.push_back({.step = value, .mb = 80});
    verdict.marks.push_back({.step = value});
    verdict.settled.reset();
    EXPECT_FALSE(render_verdict(verdict, {}).empty());
    verdict.settled = Verdict::Settled{value, value, {value, value}};
    EXPECT_FALSE(render_verdict(verdict, {.width = 60, .utf8 = false}).empty());
    EXPECT_FALSE(render_explain(verdict, {}).empty());
  }
}

TEST(Plot, FewerThanTwoPointsDrawNothing) {
  EXPECT_EQ(render_plot(empty_example(), {}), "");
}

TEST(Replay, UndecidedEndSaysSo) {
  EXPECT_THAT(render_replay(std::vector<Verdict>{undecided_example()}, kPlain, false),
              HasSubstr("not known by step 70"));
  EXPECT_FALSE(knew_at({}).has_value());
}

}  // namespace
}  // namespace plateau
