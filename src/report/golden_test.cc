// SPDX-License-Identifier: Apache-2.0
// Whole reports against stored pages in tests/golden/report, at two widths, without colour.
// PLATEAU_UPDATE_GOLDEN=1 rewrites the pages; read the difference before committing it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "report/explain.h"
#include "report/judged_examples_for_test.h"
#include "report/replay.h"
#include "report/stored_page_for_test.h"
#include "report/terminal.h"

namespace plateau {
namespace {

struct Page {
  std::string name;
  Verdict (*verdict)();
};

class GoldenReport : public ::testing::TestWithParam<Page> {};

TEST_P(GoldenReport, LooksAsStoredAtTwoWidths) {
  for (const size_t width : {80, 120}) {
    const View view = {.width = width, .color = false, .utf8 = true, .plot = true};
    const std::string text = render_verdict(GetParam().verdict(), view);
    expect_page(fmt::format("{}-{}", GetParam().name, width), text);
    expect_narrow(text, width);
  }
}

TEST_P(GoldenReport, IsAsciiOutsideOfUtf8Locales) {
  const View view = {.width = 80, .color = false, .utf8 = false, .plot = true};
  const std::string text = render_verdict(GetParam().verdict(), view);
  expect_page(GetParam().name + "-ascii", text);
  for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 0x7F)) << text;
}

TEST_P(GoldenReport, FitsEveryTerminalFromSixtyToTwoHundred) {
  for (size_t width = 60; width <= 200; width += 20) {
    const View view = {.width = width, .color = false, .utf8 = true, .plot = true};
    expect_narrow(render_verdict(GetParam().verdict(), view), width);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, GoldenReport,
    ::testing::Values(Page{"plateau", plateau_example}, Page{"undecided", undecided_example},
                      Page{"leak", leak_example}, Page{"spikes", spikes_example},
                      Page{"warming", warming_example}, Page{"empty", empty_example}),
    [](const auto& param) { return param.param.name; });

TEST(GoldenExplain, ShowsEveryExplanationWithWhatSpeaksForAndAgainst) {
  const std::string text = render_explain(plateau_example(), {});
  expect_page("plateau-explain-80", text);
}

TEST(GoldenReplay, CollapsesToChangesAndSaysWhenItKnew) {
  std::vector<Verdict> prefixes;
  for (const double step : {10.0, 20.0, 30.0}) {
    prefixes.push_back(undecided_example());
    prefixes.back().last_step = step;
  }
  for (const double step : {40.0, 50.0, 60.0}) {
    prefixes.push_back(plateau_example());
    prefixes.back().last_step = step;
  }
  expect_page("replay-changes", render_replay(prefixes, {}, false));
  expect_page("replay-every", render_replay(prefixes, {}, true));
  EXPECT_EQ(knew_at(prefixes), 40);
}

}  // namespace
}  // namespace plateau
