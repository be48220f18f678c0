// SPDX-License-Identifier: Apache-2.0
#include "census/census.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "census/python_target.h"

namespace plateau {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kPlanted = 1000;
// For a machine that does other things too; nothing here is about time.
constexpr CensusOptions kPatient = {.max_stop_s = 60};

TypeCount count_of(const Census& census, const std::string& type) {
  const auto found = std::ranges::find(census.types, type, &TypeCount::type);
  return found == census.types.end() ? TypeCount{} : *found;
}

// What the script plants and never touches again: exact whatever else it does.
std::vector<std::pair<std::string, uint64_t>> planted_types() {
  return {{"__main__.Planted", kPlanted},
          {"__main__.PlantedSlots", kPlanted + 1},
          {"__main__.PlantedList", kPlanted + 2},
          {"__main__.PlantedDict", kPlanted + 3},
          {"collections.OrderedDict", kPlanted + 4},
          {"__main__.Outer.Inner", 7},
          {"torch.Tensor", 11},
          {"torch.nn.parameter.Parameter", 13},
          {"shapes.Tensor", 17},
          {"größe.Größe", 19}};
}

class CensusOfPython : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    python_ = python_for_test(GetParam());
    if (python_.empty()) {
      GTEST_SKIP() << "python 3." << GetParam() << " is not installed";
    }
  }
  std::string python_;
};

TEST_P(CensusOfPython, IdleProcessAgreesWithItsOwnCollector) {
  PythonTarget target(python_);
  ASSERT_TRUE(target.started());
  const std::map<std::string, Truth> truth = target.truth();

  const Result<Census> census = take_census(target.pid(), kPatient);

  ASSERT_TRUE(census.ok()) << census.error().message;
  EXPECT_EQ(census.value().unreadable, 0U);
  if (GetParam() != 0) {
    EXPECT_EQ(census.value().minor, GetParam());
  }
  for (const auto& [type, objects] : planted_types()) {
    const TypeCount count = count_of(census.value(), type);
    // OrderedDicts may be the standard library's too.
    EXPECT_GE(count.objects, objects) << type;
    ASSERT_TRUE(truth.contains(type)) << type;
    EXPECT_EQ(count.objects, truth.at(type).objects) << type;
  }
  // The telling itself makes and drops a few objects.
  for (const auto& [type, told] : truth) {
    const auto seen = static_cast<double>(count_of(census.value(), type).objects);
    EXPECT_NEAR(seen, static_cast<double>(told.objects), 12) << type;
  }
  EXPECT_TRUE(target.answers());
}

TEST_P(CensusOfPython, BytesAreThoseOfGetsizeof) {
  PythonTarget target(python_);
  ASSERT_TRUE(target.started());
  const std::map<std::string, Truth> truth = target.truth();

  const Result<Census> census = take_census(target.pid(), kPatient);

  ASSERT_TRUE(census.ok()) << census.error().message;
  for (const char* type : {"__main__.Planted", "__main__.PlantedSlots", "__main__.PlantedList",
                           "__main__.PlantedDict", "__main__.Outer.Inner"}) {
    ASSERT_TRUE(truth.contains(type)) << type;
    EXPECT_EQ(count_of(census.value(), type).bytes, truth.at(type).bytes) << type;
  }
  for (const char* type : {"list", "dict", "tuple", "set", "function"}) {
    ASSERT_TRUE(truth.contains(type)) << type;
    const auto told = static_cast<double>(truth.at(type).bytes);
    EXPECT_NEAR(static_cast<double>(count_of(census.value(), type).bytes), told, 0.02 * told + 4096)
        << type;
  }
}

TEST_P(CensusOfPython, TensorsAreToldByTheirBase) {
  PythonTarget target(python_);
  ASSERT_TRUE(target.started());

  const Result<Census> census = take_census(target.pid(), kPatient);

  ASSERT_TRUE(census.ok()) << census.error().message;
  EXPECT_TRUE(count_of(census.value(), "torch.Tensor").tensor);
  EXPECT_TRUE(count_of(census.value(), "torch.nn.parameter.Parameter").tensor);
  EXPECT_FALSE(count_of(census.value(), "shapes.Tensor").tensor);
  EXPECT_FALSE(count_of(census.value(), "list").tensor);
}

TEST_P(CensusOfPython, BusyProcessIsCountedExactlyAndLives) {
  PythonTarget target(python_, /*busy=*/true);
  ASSERT_TRUE(target.started());
  for (int round = 0; round < 20; ++round) {
    // Every other time it is also asked who holds them, which copies more.
    const Result<Census> census =
        take_census(target.pid(), {.max_stop_s = kPatient.max_stop_s, .holders = round % 2 == 1});
    ASSERT_TRUE(census.ok()) << "round " << round << ": " << census.error().message;
    for (const auto& [type, objects] : planted_types()) {
      if (type == "collections.OrderedDict") continue;
      ASSERT_EQ(count_of(census.value(), type).objects, objects) << type << " round " << round;
    }
    ASSERT_TRUE(target.answers()) << "round " << round;
  }
}

TEST_P(CensusOfPython, FrozenObjectsAreCountedToo) {
  PythonTarget target(python_);
  ASSERT_TRUE(target.started());
  ASSERT_EQ(target.ask("freeze"), "frozen");

  const Result<Census> census = take_census(target.pid(), kPatient);

  ASSERT_TRUE(census.ok()) << census.error().message;
  EXPECT_EQ(count_of(census.value(), "__main__.Planted").objects, kPlanted);
}

TEST_P(CensusOfPython, CollectionInProgressIsRefusedAndGoesOn) {
  PythonTarget target(python_);
  ASSERT_TRUE(target.started());
  ASSERT_EQ(target.ask("collect"), "collecting");

  const Result<Census> during = take_census(target.pid(), kPatient);
  ASSERT_FALSE(during.ok());
  EXPECT_THAT(during.error().message, HasSubstr("garbage collector was at work each time"));

  EXPECT_EQ(target.ask("go on"), "collected");
  const Result<Census> after = take_census(target.pid(), kPatient);
  ASSERT_TRUE(after.ok()) << after.error().message;
  EXPECT_EQ(count_of(after.value(), "__main__.Planted").objects, kPlanted);
}

TEST_P(CensusOfPython, OtherInterpretersOfTheProcessAreCountedToo) {
  PythonTarget target(python_);
  ASSERT_TRUE(target.started());
  const std::string added = target.ask("interpreter");
  if (added != "added") GTEST_SKIP() << added;

  const Result<Census> census = take_census(target.pid(), kPatient);

  ASSERT_TRUE(census.ok()) << census.error().message;
  EXPECT_EQ(count_of(census.value(), "__main__.InSub").objects, 23U);
  EXPECT_EQ(count_of(census.value(), "__main__.Planted").objects, kPlanted);
}

INSTANTIATE_TEST_SUITE_P(Versions, CensusOfPython, ::testing::Values(0, 8, 9, 10, 11, 12, 13, 14),
                         [](const auto& parameter) {
                           return parameter.param == 0 ? std::string("System")
                                                       : "Minor" + std::to_string(parameter.param);
                         });

TEST(CensusGrowth, SortsByObjectsGrownAndKnowsNewAndVanishedTypes) {
  Census before{.types = {{.type = "list", .objects = 100, .bytes = 5600},
                          {.type = "gone", .objects = 3, .bytes = 300}},
                .objects = 103};
  Census after{.types = {{.type = "list", .objects = 110, .bytes = 6000},
                         {.type = "torch.Tensor", .objects = 50, .bytes = 4000, .tensor = true}},
               .objects = 160};

  const CensusGrowth growth = compare_census(before, after);

  ASSERT_EQ(growth.types.size(), 3U);
  EXPECT_EQ(growth.types[0].type, "torch.Tensor");
  EXPECT_TRUE(growth.types[0].tensor);
  EXPECT_EQ(growth.types[0].objects_grown(), 50);
  EXPECT_EQ(growth.types[1].type, "list");
  EXPECT_EQ(growth.types[1].bytes_grown(), 400);
  EXPECT_EQ(growth.types[2].objects_grown(), -3);
  EXPECT_EQ(growth.objects_after - growth.objects_before, 57U);
}

}  // namespace
}  // namespace plateau
