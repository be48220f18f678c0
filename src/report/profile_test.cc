// SPDX-License-Identifier: Apache-2.0
#include "report/profile.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/example_profile.h"
#include "report/profile_counts.h"
#include "report/stack_view.h"
#include "report/stored_page_for_test.h"

namespace plateau {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

HeapProfile example(const ProfileOptions& options = {}) {
  const plateau::Run run = example_heap_run();
  Result<HeapProfile> profile = make_profile(run, run.heaps.front(), example_names(), options);
  EXPECT_TRUE(profile.ok());
  return profile.value();
}

TEST(Profile, LeakComesFirstAndTheFilledCacheNext) {
  const HeapProfile profile = example();
  ASSERT_EQ(profile.sites.size(), 4u);
  EXPECT_EQ(profile.sites[0].verdict.word, GrowthWord::unbounded);
  EXPECT_THAT(profile.sites[0].title, HasSubstr("Tokenizer::remember [libtok.so] called from "
                                                "encode (text.py:17)"));
  EXPECT_EQ(profile.sites[0].kinds, "python");
  EXPECT_EQ(profile.sites[1].verdict.word, GrowthWord::grown);
  EXPECT_THAT(profile.sites[1].title, HasSubstr("load (PIL/ImageFile.py:245)"));
}

TEST(Profile, StacksThatDifferOnlyInTheAllocatorAreOneSite) {
  const HeapProfile profile = example();
  EXPECT_EQ(profile.sites[1].stacks, 2u);
  EXPECT_NEAR(profile.sites[1].verdict.live_mb, 2 * 0.12 * 332, 0.5);
  ASSERT_TRUE(profile.sites[1].verdict.mb_per_example);
  EXPECT_NEAR(*profile.sites[1].verdict.mb_per_example, 0.03, 0.003);
}

TEST(Profile, FullKeepsThemApart) {
  EXPECT_EQ(example({.full = true}).sites.size(), 5u);
}

TEST(Profile, GroupsByFunctionModuleAndKind) {
  EXPECT_EQ(example({.by = ProfileBy::function}).sites[0].title, "Tokenizer::remember [libtok.so]");
  EXPECT_EQ(example({.by = ProfileBy::module}).sites[1].title, "_imaging.so");
  const HeapProfile kinds = example({.by = ProfileBy::kind});
  ASSERT_EQ(kinds.sites.size(), 2u);
  EXPECT_EQ(kinds.sites[0].title, "python");
}

TEST(Profile, FiltersLookAtEveryFrameAlsoHiddenOnes) {
  EXPECT_EQ(example({.filter = std::regex("getpixel")}).sites.size(), 1u);
  EXPECT_EQ(example({.filter = std::regex("^calloc")}).sites[0].stacks, 1u);
  EXPECT_EQ(example({.exclude = std::regex("lazy_images\\.py:4[14]")}).sites.size(), 2u);
  EXPECT_EQ(example({.kind = HeapKind::python}).sites.size(), 1u);
}

TEST(Profile, DifferenceBetweenTwoStepsIsSortedByIt) {
  const HeapProfile profile = example({.from_step = 100, .to_step = 300});
  EXPECT_TRUE(profile.compares);
  EXPECT_THAT(profile.sites[0].title, HasSubstr("ImagingNewBlock"));
  EXPECT_NEAR(profile.sites[0].to_mb - profile.sites[0].from_mb, 48, 0.1);
}

TEST(Profile, StepsOutsideTheRunAreAnError) {
  const plateau::Run run = example_heap_run();
  const Result<HeapProfile> profile =
      make_profile(run, run.heaps.front(), example_names(), {.from_step = 5000});
  ASSERT_FALSE(profile.ok());
  EXPECT_THAT(profile.error().message, HasSubstr("from step 4 to 996"));
}

TEST(Profile, ArenasAreNotCountedBesideTheirBlocks) {
  plateau::Run run = example_heap_run();
  run.heaps[0].sites[4].kind = HeapKind::arena;
  const auto sites = [&run] {
    return make_profile(run, run.heaps[0], example_names(), {}).value().sites.size();
  };
  EXPECT_EQ(sites(), 3u);
  run.heaps[0].python_hooked = false;
  EXPECT_EQ(sites(), 4u);
}

TEST(Profile, GrowthPlaceIsTheLineOfPython) {
  const plateau::Run run = example_heap_run();
  EXPECT_EQ(growth_place(run, run.heaps[0], example_names()), "encode (text.py:17)");
}

TEST(Profile, TensorsAndTypesAreJudgedAsCounts) {
  const HeapProfile profile = example();
  ASSERT_EQ(profile.tensors.size(), 1u);
  EXPECT_EQ(profile.tensors[0].name, "float32 8x3x32x32 on cpu");
  EXPECT_EQ(profile.tensors[0].verdict.word, GrowthWord::unbounded);
  EXPECT_NEAR(profile.tensors[0].mb_each, 0.098, 0.001);
  ASSERT_EQ(profile.types.size(), 1u);
  EXPECT_EQ(profile.types[0].verdict.word, GrowthWord::level);
}

TEST(Profile, NamesAreMadeHarmless) {
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
  const HeapProfile profile = example();
  for (const size_t width : {80, 120}) {
    const View view = {.width = width};
    expect_page(fmt::format("profile-list-{}", width), render_profile(profile, view, {}));
  }
  expect_page("profile-all", render_profile(profile, {}, {.top = 2, .all = true}));
  expect_page("profile-flat", render_flat(profile, {}, 4));
  expect_page("profile-tree", render_tree(profile, {}, false));
  expect_page("profile-inverted", render_tree(profile, {}, true));
  const HeapProfile difference = example({.from_step = 100, .to_step = 300});
  expect_page("profile-difference", render_profile(difference, {}, {}));
}

TEST(ProfileViews, FitEveryTerminalFromSixtyToTwoHundred) {
  const HeapProfile profile = example();
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
       {render_profile(example(), view, {}), render_flat(example(), view, 10)}) {
    for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 0x7F)) << text;
  }
}

TEST(ProfileViews, JsonNamesTheSiteAndItsFrames) {
  const std::string json = profile_json(example());
  EXPECT_THAT(json, HasSubstr(R"("site":"Tokenizer::remember [libtok.so] called from encode)"));
  EXPECT_THAT(json, HasSubstr(R"("word":"unbounded")"));
  EXPECT_THAT(json, HasSubstr(R"({"kind":"python","function":"encode","file":"/home/me/text.py",)"
                              R"("line":17,"module":null})"));
  EXPECT_THAT(json, HasSubstr(R"("heap_totals":{"allocated_bytes":)"));
  EXPECT_THAT(json, HasSubstr(R"("rss":null})"));
}

TEST(ProfileViews, NothingThatGrowsIsSaidInOneLine) {
  const HeapProfile profile = example({.filter = std::regex("build")});
  EXPECT_THAT(render_profile_line(profile, {}), HasSubstr("LEVEL     no call stack grows"));
}

TEST(ElementBytes, OfUnknownTypesIsZero) {
  EXPECT_EQ(element_bytes("float32"), 4u);
  EXPECT_EQ(element_bytes("qint8"), 0u);
}

}  // namespace
}  // namespace plateau
