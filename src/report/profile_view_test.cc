// SPDX-License-Identifier: Apache-2.0
#include "report/profile_view.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/example_profile_for_test.h"
#include "report/stored_page_for_test.h"

namespace plateau {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ProfileViews, HostileNamesAreHarmless) {
  const plateau::Run run = example_heap_run();
  const NameStack names = [](const HeapStack&) {
    return std::vector<FrameName>{python("f\x1b[31m", "a\x1b]0;x\x07.py", 1)};
  };
  const HeapProfile profile = make_profile(run, run.heaps[0], names, {}).value();
  EXPECT_THAT(render_profile(profile, {}, {.all = true}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(render_tree(profile, {}, false), Not(HasSubstr("\x1b")));
  EXPECT_THAT(render_flat(profile, {}, 10), Not(HasSubstr("\x1b")));
}

TEST(ProfileViews, LookAsStored) {
  const HeapProfile profile = example_profile();
  for (const size_t width : {80, 120}) {
    const View view = {.width = width};
    expect_page(fmt::format("profile-list-{}", width), render_profile(profile, view, {}));
  }
  expect_page("profile-all", render_profile(profile, {}, {.top = 2, .all = true}));
  expect_page("profile-flat", render_flat(profile, {}, 4));
  expect_page("profile-tree", render_tree(profile, {}, false));
  expect_page("profile-inverted", render_tree(profile, {}, true));
  const HeapProfile difference = example_profile({.from_step = 100, .to_step = 300});
  expect_page("profile-difference", render_profile(difference, {}, {}));
}

TEST(ProfileViews, FitEveryTerminalFromSixtyToTwoHundred) {
  const HeapProfile profile = example_profile();
  for (size_t width = 60; width <= 200; width += 20) {
    const View view = {.width = width};
    expect_narrow(render_profile(profile, view, {.all = true}), width);
    expect_narrow(render_flat(profile, view, 10), width);
    expect_narrow(render_tree(profile, view, false), width);
  }
}

TEST(ProfileViews, AreAsciiOutsideOfUtf8Locales) {
  const View view = {.utf8 = false};
  for (const std::string& text :
       {render_profile(example_profile(), view, {}), render_flat(example_profile(), view, 10)}) {
    for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 0x7F)) << text;
  }
}

TEST(ProfileViews, PythonBelowADeepLibraryIsSeenWithoutAskingForAll) {
  const plateau::Run run = example_heap_run();
  const NameStack names = [](const HeapStack&) {
    std::vector<FrameName> frames;
    for (int i = 0; i < 30; ++i) frames.push_back(native(fmt::format("layer{}", i), "libdeep.so"));
    frames.push_back(python("step", "/home/me/train.py", 12));
    frames.push_back(python("main", "/home/me/train.py", 40));
    return frames;
  };
  const HeapProfile profile = make_profile(run, run.heaps[0], names, {}).value();
  const std::string text = render_profile(profile, {}, {});
  EXPECT_THAT(text, HasSubstr("layer0 [libdeep.so]"));
  EXPECT_THAT(text, HasSubstr("<- 22 more; --full shows them"));
  EXPECT_THAT(text, HasSubstr("<- step (train.py:12)"));
  EXPECT_THAT(text, HasSubstr("<- main (train.py:40)"));
}

TEST(ProfileViews, WhatWasLostStandsInTheFirstLineWithItsDirection) {
  HeapProfile profile = example_profile();
  profile.exact = true;
  profile.heap_totals.allocated_blocks = 870;
  profile.dropped_allocs = 130;
  EXPECT_THAT(render_profile_line(profile, {}),
              HasSubstr("INCOMPLETE: 13 % of the blocks could not be recorded"));
  EXPECT_THAT(render_profile(profile, {.width = 200}, {}), HasSubstr("every block that could be"));
  EXPECT_THAT(profile_json(profile), HasSubstr(R"("errs":"low")"));
  profile.dropped_frees = 5;
  EXPECT_THAT(profile_json(profile), HasSubstr(R"("errs":"either")"));
  profile.dropped_allocs = 0;
  EXPECT_THAT(render_profile_line(profile, {}), HasSubstr("INCOMPLETE: 5 frees could not be"));
  EXPECT_THAT(profile_json(profile), HasSubstr(R"("errs":"high")"));
}

TEST(ProfileViews, PeakListsWhatWasAliveAtTheMost) {
  const HeapProfile profile = example_profile({.at_peak = true});
  for (size_t i = 1; i < profile.sites.size(); ++i) {
    EXPECT_GE(profile.sites[i - 1].to_mb, profile.sites[i].to_mb);
  }
  EXPECT_EQ(profile.to_mb, profile.peak_mb);
  EXPECT_EQ(example_profile().peak_mb, profile.peak_mb);
  const std::string text = render_peak(profile, {}, 2);
  EXPECT_THAT(text, HasSubstr("at its peak, at step"));
  EXPECT_THAT(text, HasSubstr("79.7 MB"));
  EXPECT_THAT(text, HasSubstr("2 more sites"));
}

TEST(ProfileViews, TemporaryBlocksAreCountedBySite) {
  HeapProfile profile = example_profile();
  for (ProfileSite& site : profile.sites) site.allocated_blocks = site.temporary_blocks = 0;
  profile.sites[2].allocated_blocks = 1000;
  profile.sites[2].temporary_blocks = 900;
  profile.sites[0].allocated_blocks = 1000;
  const std::string text = render_temporary(profile, {}, 10);
  EXPECT_THAT(text, HasSubstr("900 of 2,000 blocks (45.0 %) were freed within the step"));
  EXPECT_THAT(text, HasSubstr("90.0 % of its own"));
}

TEST(ProfileViews, CallersAndCalleesOfAFunctionAddUpToWhatItHolds) {
  const HeapProfile profile = example_profile();
  const std::string text = render_around(profile, {}, *Pattern::of("^load$"), 10);
  EXPECT_THAT(text, HasSubstr("load and what it calls hold 79.7 MB"));
  EXPECT_THAT(text, HasSubstr("Image.getpixel"));
  EXPECT_THAT(text, HasSubstr("ImagingNewBlock"));
  EXPECT_THAT(render_around(profile, {}, *Pattern::of("nobody"), 10), HasSubstr("no stack has"));
}

TEST(ProfileViews, NothingThatGrowsIsSaidInOneLine) {
  const HeapProfile profile = example_profile({.filter = *Pattern::of("build")});
  EXPECT_THAT(render_profile_line(profile, {}), HasSubstr("LEVEL     no call stack grows"));
}

}  // namespace
}  // namespace plateau
