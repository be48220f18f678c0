// SPDX-License-Identifier: Apache-2.0
// Comparisons against stored pages in tests/golden/report, and what their sentences claim.
#include "report/compare.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/judged_examples_for_test.h"
#include "report/stored_page_for_test.h"

namespace plateau {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

void set(Change& change, FigureKind kind, double before, double after, bool significant,
         std::optional<Interval> range = {}) {
  const auto index = static_cast<size_t>(kind);
  change.before[index] = Figure{before, {}};
  change.after[index] = Figure{after, {}};
  Difference difference{.difference = after - before, .range = range};
  if (before != 0) difference.ratio = after / before;
  difference.significant = significant;
  difference.method = "blocks";
  change.differences[index] = difference;
}

// A leak of 168 MB a step that is gone; steps have become 3 % slower.
Comparison fixed_example() {
  Comparison comparison;
  comparison.sides = {{.name = "A", .verdicts = {leak_example()}, .word = Word::leak, .leaks = 1},
                      {.name = "B", .verdicts = {plateau_example()}, .word = Word::plateau}};
  Change change{.component = "owned", .from = 10, .to = 240, .level_from = 125};
  set(change, FigureKind::rate, 168, 0, true, Interval{-171, -165});
  set(change, FigureKind::growth, 38600, 40, true, Interval{-39200, -38000});
  set(change, FigureKind::peak, 44100, 6100, true);
  set(change, FigureKind::spike_count, 6, 7, false);
  set(change, FigureKind::step_time, 0.5, 0.515, true, Interval{0.01, 0.02});
  change.differences[static_cast<size_t>(FigureKind::step_time)]->ratio_range =
      Interval{1.02, 1.04};
  change.growth = GrowthChange::removed;
  change.outcome = Outcome::no_worse;
  change.warnings = {{FindingKind::compared_epochs_differ,
                      {{"before_steps", 83}, {"after_steps", 415}},
                      {{"before", "A"}, {"after", "B"}}}};
  comparison.changes = {change};
  comparison.outcome = Outcome::no_worse;
  return comparison;
}

// The same baseline, and a third side that leaks faster.
Comparison three_example() {
  Comparison comparison = fixed_example();
  comparison.sides.push_back(
      {.name = "C", .verdicts = {leak_example()}, .word = Word::leak, .leaks = 1});
  Change change{.side = 2, .component = "owned", .from = 10, .to = 240, .level_from = 125};
  set(change, FigureKind::rate, 168, 300, true, Interval{120, 144});
  change.growth = GrowthChange::faster;
  change.outcome = Outcome::worse;
  change.replicated = true;
  comparison.changes.push_back(change);
  comparison.outcome = Outcome::worse;
  return comparison;
}

std::string sentence_of(const Comparison& comparison) {
  return change_sentence(comparison, comparison.changes.front());
}

TEST(GoldenComparison, LooksAsStored) {
  expect_page("compare-fixed-80", render_comparison(fixed_example(), {}));
  expect_page("compare-fixed-120", render_comparison(fixed_example(), {.width = 120}));
  expect_page("compare-fixed-ascii", render_comparison(fixed_example(), {.utf8 = false}));
  expect_page("compare-three-80", render_comparison(three_example(), {}));
  expect_page("compare-fixed-json", comparison_json(fixed_example()) + "\n");
}

TEST(Comparison, FitsEveryTerminalFromEightyToTwoHundred) {
  for (const Comparison& comparison : {fixed_example(), three_example()}) {
    for (size_t width = 80; width <= 200; width += 20) {
      expect_narrow(render_comparison(comparison, {.width = width}), width);
    }
  }
}

TEST(Comparison, NamesWhereASideGrowsIfItsHeapWasRecorded) {
  Comparison comparison = fixed_example();
  EXPECT_THAT(render_comparison(comparison, {}), Not(HasSubstr("grows at")));
  comparison.sides[0].verdicts[0].site = "decode (image.py:12)";

  EXPECT_THAT(render_comparison(comparison, {}), HasSubstr("grows at decode (image.py:12)"));
  EXPECT_THAT(comparison_json(comparison), HasSubstr("\"site\":\"decode (image.py:12)\""));
}

TEST(Comparison, AsciiViewIsAscii) {
  for (const char c : render_comparison(three_example(), {.utf8 = false})) {
    EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 0x7F));
  }
}

TEST(Comparison, SentenceSaysOnlyWhatIsSignificant) {
  const std::string sentence = sentence_of(fixed_example());
  EXPECT_EQ(sentence,
            "the fix removed the growth (+168 MB/step → 0); peak 44.1 → 6.10 GB; "
            "steps are 3 % slower (2–4 %)");
  EXPECT_THAT(sentence, Not(HasSubstr("spikes")));
}

TEST(Comparison, TooShortNamesWhereOneEndsAndWhereTheOtherShows) {
  Comparison comparison = fixed_example();
  comparison.changes[0].differences = {};
  comparison.changes[0].growth = GrowthChange::too_short;
  comparison.changes[0].to = 40;
  comparison.changes[0].shows_at = 60;
  EXPECT_EQ(sentence_of(comparison),
            "too short to tell: B ends at step 40, the growth of A shows from step 60 on");
}

TEST(Comparison, HalfTheRateIsCalledThat) {
  Comparison comparison = fixed_example();
  comparison.changes[0].differences = {};
  comparison.changes[0].growth = GrowthChange::slower;
  set(comparison.changes[0], FigureKind::rate, 168, 84, true);
  EXPECT_EQ(sentence_of(comparison),
            "B still leaks, at half the rate (+168 MB/step → +84.0 MB/step)");
}

TEST(Comparison, LineCarriesTheOutcomeOfTheWorst) {
  EXPECT_THAT(render_comparison_line(fixed_example(), {}), StartsWith("BETTER    the fix"));
  EXPECT_THAT(render_comparison_line(three_example(), {}), StartsWith("WORSE     B: it removed"));
}

TEST(Comparison, FileNamesAreMadeHarmless) {
  Comparison comparison = fixed_example();
  comparison.sides[0].verdicts[0].file = "a\x1b[31mb.log";
  EXPECT_THAT(render_comparison(comparison, {}), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace plateau
