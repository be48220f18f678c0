// SPDX-License-Identifier: Apache-2.0
#include "report/live.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "report/example_live.h"
#include "report/judged_examples_for_test.h"

namespace plateau {
namespace {

using Kind = Key::Kind;
using testing::HasSubstr;

constexpr View kColour = {.width = 80, .color = true, .utf8 = true, .plot = true};
constexpr View kPlain = {.width = 80, .color = false, .utf8 = true, .plot = true};

LiveControls after(LiveControls controls, const std::vector<Key>& keys, const LiveState& state) {
  for (const Key& key : keys) controls = handle_key(controls, key, state);
  return controls;
}

Key letter(char32_t value) {
  return {Kind::character, value};
}

size_t coloured_cells(const Frame& frame) {
  size_t count = 0;
  for (size_t row = 0; row < frame.rows(); ++row) {
    for (size_t column = 0; column < frame.columns(); ++column) {
      const Cell& cell = frame.at(row, column);
      if (cell.ink != Ink::plain || cell.reverse) ++count;
    }
  }
  return count;
}

TEST(RenderLive, EverySizeFromNothingOnGivesAFrameOfThatSize) {
  LiveState odd = crowded_example(3);
  odd.processes[2].owned_mb = std::numeric_limits<double>::infinity();
  odd.processes[3].depth = 1000;
  odd.limit.seconds_to_limit = -5;
  odd.limit.mb = 0;
  odd.elapsed_s = -1;
  LiveControls detail;
  detail.detail = true;
  LiveControls help;
  help.help = true;
  help.scroll = 1000;
  for (const LiveState& state : {LiveState(), live_example(), odd}) {
    for (const LiveControls& controls : {LiveControls(), detail, help}) {
      for (size_t columns = 0; columns < 140; columns += columns < 70 ? 1 : 9) {
        for (size_t rows = 0; rows < 45; rows += rows < 26 ? 1 : 5) {
          const Frame frame = render_live(state, controls, columns, rows, kColour);
          ASSERT_EQ(frame.columns(), columns);
          ASSERT_EQ(frame.rows(), rows);
        }
      }
    }
  }
}

TEST(RenderLive, VerdictStandsOutInItsColourAndOnlyWithColour) {
  const Frame frame = render_live(live_example(), {}, 80, 24, kColour);
  EXPECT_EQ(frame.at(1, 1), (Cell{U'U', Ink::yellow, true}));
  EXPECT_EQ(coloured_cells(render_live(live_example(), {}, 80, 24, kPlain)), 0U);
}

TEST(RenderLive, SelectedRowIsOneBarWithoutPatches) {
  LiveControls controls;
  controls.selected_pid = 4243;
  const Frame frame = render_live(live_example(), controls, 80, 24, kColour);
  for (size_t column = 0; column < 80; ++column) {
    EXPECT_TRUE(frame.at(19, column).reverse);
    EXPECT_EQ(frame.at(19, column).ink, Ink::plain);
  }
}

TEST(RenderLive, HostileNamesMoveNothing) {
  LiveState state = live_example();
  const std::string clean = render_live(state, {}, 80, 24, kPlain).row_text(18);
  state.processes[1].name = "\x1b[2J\x1b]0;evil\apython\r train.py\x9b";
  const std::string row = render_live(state, {}, 80, 24, kPlain).row_text(18);
  EXPECT_EQ(row.substr(0, 60), clean.substr(0, 60));
  EXPECT_THAT(row, HasSubstr("python  train.py"));
}

TEST(RenderLive, WideNamesKeepTheFrameWhole) {
  LiveState state = live_example();
  state.processes[1].name = "訓練プログラム訓練プログラム";
  const Frame frame = render_live(state, {}, 80, 24, kPlain);
  EXPECT_LE(display_width(frame.row_text(18)), 80U);
  EXPECT_THAT(frame.row_text(18), HasSubstr("訓練"));
}

TEST(HandleKey, SelectionFollowsTheOrderOnTheScreenAndStopsAtItsEnds) {
  const LiveState state = live_example();
  EXPECT_EQ(after({}, {letter('j')}, state).selected_pid, 4242);
  EXPECT_EQ(after({}, {{Kind::down}, {Kind::down}, letter('k')}, state).selected_pid, 4242);
  EXPECT_EQ(after({}, {{Kind::up}}, state).selected_pid, 4100);
  EXPECT_EQ(after({}, {{Kind::end}, {Kind::down}}, state).selected_pid, 4251);
  EXPECT_EQ(after({}, {letter('s'), letter('j')}, state).selected_pid, 4242);
}

TEST(HandleKey, SortGoesRoundAndKeepsTheSelectedProcess) {
  const LiveState state = live_example();
  LiveControls controls = after({}, {letter('j'), letter('j'), letter('s')}, state);
  EXPECT_EQ(controls.sort, LiveSort::owned);
  EXPECT_EQ(controls.selected_pid, 4243);
  controls = after(controls, std::vector<Key>(4, letter('s')), state);
  EXPECT_EQ(controls.sort, LiveSort::tree);
}

TEST(HandleKey, EscapeLeavesHelpBeforeDetail) {
  const LiveState state = live_example();
  LiveControls controls = after({}, {{Kind::enter}, letter('?')}, state);
  EXPECT_TRUE(controls.detail && controls.help);
  controls = after(controls, {{Kind::escape}}, state);
  EXPECT_TRUE(controls.detail && !controls.help);
  EXPECT_FALSE(after(controls, {{Kind::backspace}}, state).detail);
}

TEST(HandleKey, MarkPauseAndQuitAreFlagsForTheCaller) {
  EXPECT_TRUE(after({}, {letter('m')}, {}).mark);
  EXPECT_TRUE(after({}, {letter(' ')}, {}).paused);
  EXPECT_FALSE(after({}, {letter(' '), letter(' ')}, {}).paused);
  EXPECT_TRUE(after({}, {letter('q')}, {}).quit);
  EXPECT_TRUE(after({}, {{Kind::interrupt}}, {}).quit);
  EXPECT_FALSE(after({}, {{Kind::enter}, {Kind::down}, letter('x')}, {}).detail);
}

TEST(ProcessOrder, UnknownAmountsComeLastAndTiesKeepTreeOrder) {
  LiveState state = live_example();
  state.processes[2].owned_mb = kMissing;
  state.processes[3].owned_mb = state.processes[0].owned_mb;
  EXPECT_EQ(process_order(state, LiveSort::owned), (std::vector<size_t>{1, 0, 3, 4, 2}));
  EXPECT_EQ(process_order(state, LiveSort::tree), (std::vector<size_t>{0, 1, 2, 3, 4}));
}

TEST(LiveLine, SaysStateVerdictAndLimitInOneLine) {
  EXPECT_EQ(live_line(live_example(), kPlain),
            " 0:12:34  step 70/250       owned 5.70 GB   +171 MB/step  UNDECIDED     55 %"
            "  open until step 145  limit 20.0 GB in 26 min");
  EXPECT_EQ(live_line({}, kPlain), "       -  owned       -  no verdict yet");
}

TEST(LiveJson, IsOneObjectWithTheVerdictInIt) {
  const std::string text = live_json(live_example());
  const nlohmann::json json = nlohmann::json::parse(text);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(json["step"], 70);
  EXPECT_EQ(json["processes"].size(), 5U);
  EXPECT_EQ(json["processes"][2]["role"], "data worker");
  EXPECT_EQ(json["verdict"]["verdict"], "undecided");
  EXPECT_EQ(json["limit"]["seconds_to_limit"], 1560);
}

TEST(LiveJson, UnknownIsNullNotAbsentNotMinusOne) {
  const nlohmann::json json = nlohmann::json::parse(live_json({}));
  EXPECT_TRUE(json.at("step").is_null());
  EXPECT_TRUE(json.at("verdict").is_null());
  EXPECT_TRUE(json.at("totals").at("owned_mb").is_null());
  EXPECT_TRUE(json.at("cgroup").at("oom_kills").is_null());
}

}  // namespace
}  // namespace plateau
