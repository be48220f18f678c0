// SPDX-License-Identifier: Apache-2.0
#include "report/terminal.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "report/explain.h"
#include "report/judged_examples_for_test.h"
#include "report/plot.h"
#include "report/printable.h"
#include "report/replay.h"
#include "words/cause_table.h"
#include "words/verdict_words.h"

namespace plateau {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr View kPlain = {.width = 100, .color = false, .utf8 = true, .plot = false};

TEST(TerminalReport, FirstLineIsTheAnswer) {
  EXPECT_THAT(render_verdict(plateau_example(), kPlain), StartsWith("PLATEAU   no leak · 97 %\n"));
}

TEST(TerminalReport, WordIsColouredOnlyWhenAsked) {
  View view = kPlain;
  view.color = true;
  EXPECT_THAT(render_verdict(leak_example(), view), StartsWith("\x1b[1;31mLEAK"));
  EXPECT_THAT(render_verdict(leak_example(), kPlain), Not(HasSubstr("\x1b")));
}

TEST(TerminalReport, UndecidedNamesTheCampsWhereEachLeadsAndWhenItWillKnow) {
  const std::string text = render_verdict(undecided_example(), kPlain);
  EXPECT_THAT(text, HasSubstr("leading explanations"));
  EXPECT_THAT(text, HasSubstr("level near 17.9 GB from"));
  EXPECT_THAT(text, HasSubstr("passes the limit of 20.0 GB at step 9"));
  EXPECT_THAT(text, HasSubstr("known at step"));
  EXPECT_THAT(text, HasSubstr("Or try: run the same 20 batches twice"));
}

TEST(TerminalReport, AnExperimentThatNothingPrecedesIsNoAlternative) {
  Verdict verdict = undecided_example();
  verdict.decides_at_step.reset();
  verdict.missing = {};
  const std::string text = render_verdict(verdict, kPlain);
  EXPECT_THAT(text, HasSubstr("  Try: run the same 20 batches twice"));
  EXPECT_THAT(text, Not(HasSubstr("Or try")));
}

TEST(TerminalReport, CourseIsNamedByWhatHappened) {
  Verdict verdict = undecided_example();
  EXPECT_EQ(course_of(verdict).label, "Grew");
  verdict.rate_range = {-3, 2};
  EXPECT_THAT(plain(course_of(verdict).text), HasSubstr("whether it goes on is open"));
  verdict.word = Word::leak;
  EXPECT_THAT(plain(course_of(verdict).text), Not(HasSubstr("is open")));
  verdict.word = Word::undecided;
  verdict.rate_mb_per_step = -2;
  verdict.rate_range = {-3, -1};
  EXPECT_EQ(course_of(verdict).label, "Fell");
  EXPECT_EQ(course_of(spikes_example()).label, "Level");
  verdict.samples = 1;
  EXPECT_THAT(plain(course_of(verdict).text), HasSubstr("one sample shows no trend"));
}

TEST(TerminalReport, AnAverageOutsideOfTheIntervalIsToldBesideTheRate) {
  Verdict verdict = undecided_example();
  verdict.ended.clear();
  verdict.first_step = 0, verdict.last_step = 100;
  verdict.first_mb = 1000, verdict.last_mb = 2000;
  verdict.rate_mb_per_step = verdict.current_rate_mb_per_step = 3;
  verdict.rate_range = verdict.current_rate_range = {2.5, 3.5};
  EXPECT_THAT(plain(course_of(verdict).text),
              HasSubstr("(+10.0 MB/step on average, +3.00 MB/step now"));
  verdict.last_mb = 1310;
  EXPECT_THAT(plain(course_of(verdict).text), Not(HasSubstr("on average")));
}

TEST(TerminalReport, WhatMovedIsNotCalledLevelSoFar) {
  Verdict verdict = undecided_example();
  for (Explanation& explanation : verdict.explanations) {
    explanation.weight = explanation.bounded ? 0.4 : 0.05;
  }
  verdict.rate_range = {-3, 2};
  verdict.first_mb = 900, verdict.last_mb = 2400;
  EXPECT_THAT(headline_of(verdict), Not(HasSubstr("level so far")));
  verdict.last_mb = 901;
  EXPECT_THAT(headline_of(verdict), HasSubstr("level so far"));
}

TEST(TerminalReport, WhatLikelyPassesItsLimitIsNotCalledFine) {
  Verdict verdict = spikes_example();
  verdict.risk.oom = 0.8;
  EXPECT_EQ(headline_of(verdict), "no leak, but likely to pass its limit");
  verdict.over = true;
  EXPECT_EQ(headline_of(verdict), "no leak") << "nothing is to come any more";
}

TEST(TerminalReport, EachFactIsToldOnce) {
  const std::string text = render_verdict(plateau_example(), kPlain);
  const size_t first = text.find("first pass over the data ended");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(text.find("first pass over the data ended", first + 1), std::string::npos);
  const size_t grew = text.find("17.4 GB over steps");
  ASSERT_NE(grew, std::string::npos);
  EXPECT_EQ(text.find("17.4 GB over steps", grew + 1), std::string::npos);
}

TEST(TerminalReport, MissingInformationIsAskedFor) {
  Verdict verdict = undecided_example();
  verdict.missing = {FindingKind::pass_length_missing, {{"last_step", 70, Unit::moment}}, {}};
  EXPECT_THAT(render_verdict(verdict, kPlain), HasSubstr("To settle it: the length of the first"));
}

TEST(TerminalReport, GrowingChildIsNamed) {
  EXPECT_THAT(render_verdict(leak_example(), kPlain), HasSubstr("of the growth of 4 processes"));
}

TEST(TerminalReport, ReclaimablePagesAreExcused) {
  Verdict verdict = leak_example();
  for (ComponentVerdict& component : verdict.components) {
    if (component.reclaimable) component.last_mb = 2 * component.first_mb;
  }
  EXPECT_THAT(render_verdict(verdict, kPlain), HasSubstr("reclaimable"));
}

TEST(TerminalReport, RiskSaysWhetherAndWhen) {
  EXPECT_THAT(render_verdict(undecided_example(), kPlain),
              HasSubstr("the limit is 20.0 GB; if it keeps growing, it passes that at step"));
  EXPECT_THAT(risk_of(plateau_example()), IsEmpty());
}

TEST(TerminalReport, ALimitThatIsPassedAlreadyIsNotAwaited) {
  Verdict verdict = undecided_example();
  verdict.risk.limit_mb = 20;
  EXPECT_THAT(render_verdict(verdict, kPlain),
              HasSubstr("already more than the limit of 20.0 MB."));
  EXPECT_THAT(render_verdict(verdict, kPlain), Not(HasSubstr("passes")));
  verdict.over = true;
  EXPECT_THAT(render_verdict(verdict, kPlain), HasSubstr("more than the limit of 20.0 MB."));
}

TEST(TerminalReport, OfAJobThatHasEndedNothingIsToCome) {
  for (Verdict verdict : {undecided_example(), leak_example()}) {
    verdict.over = true;
    verdict.decides_at_step.reset();
    verdict.risk.limit_mb = 20000;
    const std::string text = render_verdict(verdict, kPlain) + render_explain(verdict, kPlain);
    EXPECT_THAT(text, Not(HasSubstr("known at"))) << text;
    EXPECT_THAT(text, Not(HasSubstr("PID"))) << text;
    EXPECT_THAT(text, Not(HasSubstr("When the run ends"))) << text;
    EXPECT_THAT(text, Not(HasSubstr("current rate"))) << text;
    EXPECT_THAT(text, HasSubstr("at its end; the limit is 20.0 GB")) << text;
  }
}

TEST(TerminalReport, EveryCauseHasAnExperimentThatIsStillPossibleAfterTheEnd) {
  for (const std::string_view name : {"per-example-cache", "allocator-high-water", "python-objects",
                                      "native-leak", "sawtooth", "bounded-cache"}) {
    const std::string_view again = cause_words(name).experiment(true);
    EXPECT_FALSE(again.empty()) << name;
    EXPECT_EQ(again.find("PID"), std::string_view::npos) << again;
  }
  EXPECT_THAT(std::string(cause_words("native-leak").experiment(false)), HasSubstr("try PID"));
}

TEST(TerminalReport, WhatHasNoStepsIsToldNothingOfBatches) {
  Verdict verdict = leak_example();
  verdict.clock = Clock::seconds;
  verdict.epoch_steps.reset();
  for (const std::string_view name : {"bounded-cache", "allocator-high-water", "start-up-state",
                                      "phase-change", "sawtooth", "worker-pools"}) {
    const CauseWords& words = cause_words(name, verdict);
    const std::string all =
        fmt::format("{} {} {} {}", words.title, words.confirm, words.fix, words.experiment(true));
    for (const char* training : {"batch", "shape", "optimizer", "step", "loader"}) {
      EXPECT_THAT(all, Not(HasSubstr(training))) << name;
    }
    EXPECT_THAT(std::string(words.experiment(true)), Not(HasSubstr("PID")));
  }
  verdict.clock = Clock::steps;
  EXPECT_EQ(&cause_words("bounded-cache", verdict), &cause_words("bounded-cache"));
}

TEST(TerminalReport, ALevelKindOfPagesHasNoRateAndThreeSamplesHaveNone) {
  Verdict verdict = leak_example();
  verdict.components = {{.name = "owned",
                         .word = Word::leak,
                         .confidence = 0.9,
                         .first_mb = 10,
                         .last_mb = 300,
                         .rate_mb_per_step = 1},
                        {.name = "file",
                         .word = Word::plateau,
                         .confidence = 0.98,
                         .first_mb = 1,
                         .last_mb = 4,
                         .rate_mb_per_step = 0.01}};
  const std::string text = render_verdict(verdict, kPlain);
  EXPECT_THAT(text, testing::ContainsRegex("file +plateau +98 % +1.00 .+ 4.00 MB +level"));
  verdict.components[0] = {.name = "owned",
                           .word = Word::undecided,
                           .confidence = 0,
                           .first_mb = 10,
                           .last_mb = 72,
                           .rate_mb_per_step = 0};
  EXPECT_THAT(render_verdict(verdict, kPlain),
              testing::ContainsRegex("owned +undecided +- +10.0 .+ 72.0 MB +decides"));
}

TEST(TerminalReport, TextFromLogsCannotReachTheTerminal) {
  Verdict verdict = leak_example();
  const std::string attack =
      "\x1b[2J\x1b]0;owned\x07\r\nfake \xc2\x9b"
      "31m";
  verdict.file = verdict.title = verdict.component = attack;
  const Finding hostile{FindingKind::objects_steady, {}, {{"counted", attack}}};
  verdict.evidence = verdict.warnings = {hostile};
  verdict.notes = {attack};
  verdict.process->name = verdict.processes[0].name = attack;
  verdict.causes[0].evidence = verdict.experiment = verdict.missing = hostile;
  verdict.explanations[0].speaks_for = {hostile};
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
