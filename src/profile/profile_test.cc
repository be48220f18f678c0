// SPDX-License-Identifier: Apache-2.0
#include "profile/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "profile/example_profile_for_test.h"
#include "profile/profile_counts.h"
#include "profile/stack_view.h"

namespace plateau {
namespace {

using ::testing::HasSubstr;

TEST(Profile, LargestGrowthComesFirstAndTheLeakAnswers) {
  const HeapProfile profile = example_profile();
  ASSERT_EQ(profile.sites.size(), 4u);
  EXPECT_EQ(profile.sites[0].verdict.word, GrowthWord::grown);
  EXPECT_THAT(profile.sites[0].title, HasSubstr("load (PIL/ImageFile.py:245)"));
  const ProfileSite& leak = profile.sites[1];
  EXPECT_EQ(leak.verdict.word, GrowthWord::unbounded);
  EXPECT_THAT(leak.title, HasSubstr("Tokenizer::remember [libtok.so] called from "
                                    "encode (text.py:17)"));
  EXPECT_EQ(leak.kinds, "python");
  EXPECT_EQ(growth_site(profile), &leak);
}

// Heaps of every shape: sites that grow, jump, churn, spike and shrink, over many and few rows.
HeapTrack invented_track(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto draw = [&random](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  TrackMaker maker(std::uniform_int_distribution<int>(2, 60)(random), 10);
  Noise noise(seed);
  const int sites = std::uniform_int_distribution<int>(1, 12)(random);
  for (int i = 0; i < sites; ++i) {
    const double base = draw(0, 40), size = std::pow(10, draw(-3, 2)), at = draw(0, 600);
    switch (std::uniform_int_distribution<int>(0, 5)(random)) {
      case 0:
        maker.add([=](double t) { return base + size * t / 600; }, 100);
        break;
      case 1:
        maker.add([=](double t) { return t < at ? base : base + size; }, 100);
        break;
      case 2:
        maker.add([=, &noise](double) { return std::max(0.0, base + size * noise()); }, 100);
        break;
      case 3:
        maker.add([=](double t) { return base + size * (1 - std::exp(-t / (at + 1))); }, 100);
        break;
      case 4:
        maker.add([=](double t) { return std::max(0.0, base - size * t / 600); }, 100);
        break;
      default:
        maker.add([=](double t) { return std::fabs(t - at) < 50 ? base + size : base; }, 100);
    }
  }
  return maker.track();
}

TEST(Profile, NoOrderContradictsTheBytesShown) {
  const NameStack names = [](const HeapStack& stack) {
    return std::vector<FrameName>{native("f" + std::to_string(stack.native.at(0)), "lib.so")};
  };
  for (uint64_t seed = 0; seed < 400; ++seed) {
    plateau::Run run;
    run.heaps = {invented_track(seed)};
    const Result<HeapProfile> made = make_profile(run, run.heaps[0], names, {});
    if (!made.ok()) continue;
    const HeapProfile& profile = made.value();
    for (size_t i = 1; i < profile.sites.size(); ++i) {
      ASSERT_GE(profile.sites[i - 1].growth_mb(), profile.sites[i].growth_mb()) << seed;
    }
    // What does not count as grown grew by next to nothing, and never by more than what does.
    double growth_mb = 0;
    for (const ProfileSite& site : profile.sites) {
      if (site_grew(profile, site)) {
        growth_mb += site.growth_mb();
      } else {
        ASSERT_LT(site.growth_mb(), profile.matters_mb) << seed;
      }
    }
    const ProfileSite* answer = growth_site(profile);
    ASSERT_EQ(answer == nullptr, growth_mb == 0) << seed;
    if (answer != nullptr) {
      ASSERT_GE(answer->growth_mb(), 0.1 * profile.sites[0].growth_mb()) << seed;
    }
  }
}

TEST(Profile, StacksThatDifferOnlyInTheAllocatorAreOneSite) {
  const HeapProfile profile = example_profile();
  EXPECT_EQ(profile.sites[0].stacks, 2u);
  EXPECT_NEAR(profile.sites[0].verdict.live_mb, 2 * 0.12 * 332, 0.5);
  ASSERT_TRUE(profile.sites[0].verdict.mb_per_example);
  EXPECT_NEAR(*profile.sites[0].verdict.mb_per_example, 0.03, 0.003);
}

TEST(Profile, FullKeepsThemApart) {
  EXPECT_EQ(example_profile({.full = true}).sites.size(), 5u);
}

TEST(Profile, GroupsByFunctionModuleAndKind) {
  EXPECT_EQ(example_profile({.by = ProfileBy::function}).sites[1].title,
            "Tokenizer::remember [libtok.so]");
  EXPECT_EQ(example_profile({.by = ProfileBy::module}).sites[0].title, "_imaging.so");
  const HeapProfile kinds = example_profile({.by = ProfileBy::kind});
  ASSERT_EQ(kinds.sites.size(), 2u);
  EXPECT_EQ(kinds.sites[1].title, "python");
}

TEST(Profile, FiltersLookAtEveryFrameAlsoHiddenOnes) {
  EXPECT_EQ(example_profile({.filter = *Pattern::of("getpixel")}).sites.size(), 1u);
  EXPECT_EQ(example_profile({.filter = *Pattern::of("^calloc")}).sites[0].stacks, 1u);
  EXPECT_EQ(example_profile({.exclude = *Pattern::of("lazy_images\\.py:4[14]")}).sites.size(), 2u);
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
