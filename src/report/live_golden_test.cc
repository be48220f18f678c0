// SPDX-License-Identifier: Apache-2.0
// Whole live screens against stored pages in tests/golden/live.
// PLATEAU_UPDATE_GOLDEN=1 rewrites the pages; read the difference before committing it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "report/example_live.h"
#include "report/judged_examples_for_test.h"
#include "report/stored_page_for_test.h"

namespace plateau {
namespace {

constexpr View kPlain = {.width = 80, .color = false, .utf8 = true, .plot = true};
constexpr View kAscii = {.width = 80, .color = false, .utf8 = false, .plot = true};

void expect_screen(const std::string& name, const Frame& frame) {
  expect_stored_page("live/" + name + ".txt", frame.text());
}

TEST(GoldenLive, UndecidedLooksAsStoredAtEverySize) {
  const LiveState state = live_example();
  expect_screen("undecided-80x24", render_live(state, {}, 80, 24, kPlain));
  expect_screen("undecided-120x40", render_live(state, {}, 120, 40, kPlain));
  expect_screen("undecided-60x12", render_live(state, {}, 60, 12, kPlain));
  expect_screen("undecided-40x10", render_live(state, {}, 40, 10, kPlain));
  expect_screen("undecided-20x5", render_live(state, {}, 20, 5, kPlain));
}

TEST(GoldenLive, LeakAndPlateauLookAsStored) {
  LiveState state = live_example();
  state.verdict = leak_example();
  expect_screen("leak-80x24", render_live(state, {}, 80, 24, kPlain));
  expect_screen("leak-132x50", render_live(state, {}, 132, 50, kPlain));
  state.verdict = plateau_example();
  state.limit.seconds_to_limit.reset();
  expect_screen("plateau-80x24", render_live(state, {}, 80, 24, kPlain));
}

TEST(GoldenLive, AsciiScreenIsAsciiOnly) {
  const Frame frame = render_live(live_example(), {}, 80, 24, kAscii);
  expect_screen("undecided-80x24-ascii", frame);
  for (const char c : frame.text()) EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 0x7F));
}

TEST(GoldenLive, DetailShowsEveryFigureOfTheSelectedProcess) {
  LiveControls controls;
  controls.detail = true;
  controls.selected_pid = 4243;
  LiveState state = live_example();
  state.verdict = leak_example();
  expect_screen("detail-80x24", render_live(state, controls, 80, 24, kPlain));
  expect_screen("detail-40x10", render_live(state, controls, 40, 10, kPlain));
}

TEST(GoldenLive, HelpExplainsKeysAndWords) {
  LiveControls controls;
  controls.help = true;
  expect_screen("help-80x24", render_live(live_example(), controls, 80, 24, kPlain));
}

TEST(GoldenLive, EmptyStateShowsDashesNotNumbers) {
  expect_screen("empty-80x24", render_live({}, {}, 80, 24, kPlain));
  expect_screen("empty-40x10", render_live({}, {}, 40, 10, kPlain));
}

TEST(GoldenLive, ManyProcessesScrollWithTheSelection) {
  const LiveState state = crowded_example(30);
  LiveControls controls;
  expect_screen("crowd-first-80x24", render_live(state, controls, 80, 24, kPlain));
  controls.selected_pid = 5020;
  expect_screen("crowd-scrolled-80x24", render_live(state, controls, 80, 24, kPlain));
  controls.sort = LiveSort::growth;
  controls.selected_pid = -1;
  expect_screen("crowd-by-growth-100x30", render_live(state, controls, 100, 30, kPlain));
}

}  // namespace
}  // namespace plateau
