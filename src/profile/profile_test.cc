// SPDX-License-Identifier: Apache-2.0
#include "profile/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/example_profile_for_test.h"
#include "profile/profile_counts.h"
#include "profile/stack_view.h"

namespace plateau {
namespace {

using ::testing::HasSubstr;

TEST(Profile, LeakComesFirstAndTheFilledCacheNext) {
  const HeapProfile profile = example_profile();
  ASSERT_EQ(profile.sites.size(), 4u);
  EXPECT_EQ(profile.sites[0].verdict.word, GrowthWord::unbounded);
  EXPECT_THAT(profile.sites[0].title, HasSubstr("Tokenizer::remember [libtok.so] called from "
                                                "encode (text.py:17)"));
  EXPECT_EQ(profile.sites[0].kinds, "python");
  EXPECT_EQ(profile.sites[1].verdict.word, GrowthWord::grown);
  EXPECT_THAT(profile.sites[1].title, HasSubstr("load (PIL/ImageFile.py:245)"));
}

TEST(Profile, StacksThatDifferOnlyInTheAllocatorAreOneSite) {
  const HeapProfile profile = example_profile();
  EXPECT_EQ(profile.sites[1].stacks, 2u);
  EXPECT_NEAR(profile.sites[1].verdict.live_mb, 2 * 0.12 * 332, 0.5);
  ASSERT_TRUE(profile.sites[1].verdict.mb_per_example);
  EXPECT_NEAR(*profile.sites[1].verdict.mb_per_example, 0.03, 0.003);
}

TEST(Profile, FullKeepsThemApart) {
  EXPECT_EQ(example_profile({.full = true}).sites.size(), 5u);
}

TEST(Profile, GroupsByFunctionModuleAndKind) {
  EXPECT_EQ(example_profile({.by = ProfileBy::function}).sites[0].title,
            "Tokenizer::remember [libtok.so]");
  EXPECT_EQ(example_profile({.by = ProfileBy::module}).sites[1].title, "_imaging.so");
  const HeapProfile kinds = example_profile({.by = ProfileBy::kind});
  ASSERT_EQ(kinds.sites.size(), 2u);
  EXPECT_EQ(kinds.sites[0].title, "python");
}

TEST(Profile, FiltersLookAtEveryFrameAlsoHiddenOnes) {
  EXPECT_EQ(example_profile({.filter = std::regex("getpixel")}).sites.size(), 1u);
  EXPECT_EQ(example_profile({.filter = std::regex("^calloc")}).sites[0].stacks, 1u);
  EXPECT_EQ(example_profile({.exclude = std::regex("lazy_images\\.py:4[14]")}).sites.size(), 2u);
  EXPECT_EQ(example_profile({.kind = HeapKind::python}).sites.size(), 1u);
}

TEST(Profile, DifferenceBetweenTwoStepsIsSortedByIt) {
  const HeapProfile profile = example_profile({.from_step = 100, .to_step = 300});
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
  EXPECT_EQ(growth_place(example_profile()), "encode (text.py:17)");
}

TEST(Profile, TensorsAndTypesAreJudgedAsCounts) {
  const HeapProfile profile = example_profile();
  ASSERT_EQ(profile.tensors.size(), 1u);
  EXPECT_EQ(profile.tensors[0].name, "float32 8x3x32x32 on cpu");
  EXPECT_EQ(profile.tensors[0].verdict.word, GrowthWord::unbounded);
  EXPECT_NEAR(profile.tensors[0].mb_each, 0.098, 0.001);
  ASSERT_EQ(profile.types.size(), 1u);
  EXPECT_EQ(profile.types[0].verdict.word, GrowthWord::level);
}

TEST(ProfileJson, JsonNamesTheSiteAndItsFrames) {
  const std::string json = profile_json(example_profile());
  EXPECT_THAT(json, HasSubstr(R"("site":"Tokenizer::remember [libtok.so] called from encode)"));
  EXPECT_THAT(json, HasSubstr(R"("word":"unbounded")"));
  EXPECT_THAT(json, HasSubstr(R"({"kind":"python","function":"encode","file":"/home/me/text.py",)"
                              R"("line":17,"module":null})"));
  EXPECT_THAT(json, HasSubstr(R"("heap_totals":{"allocated_bytes":)"));
  EXPECT_THAT(json, HasSubstr(R"("rss":null})"));
}

TEST(ElementBytes, OfUnknownTypesIsZero) {
  EXPECT_EQ(element_bytes("float32"), 4u);
  EXPECT_EQ(element_bytes("qint8"), 0u);
}

}  // namespace
}  // namespace plateau
