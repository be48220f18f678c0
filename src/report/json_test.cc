// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "report/judged_examples_for_test.h"

namespace plateau {
namespace {

using ::testing::ElementsAre;
using Json = nlohmann::ordered_json;

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& item : object.items()) keys.push_back(item.key());
  return keys;
}

Json parsed(const Verdict& verdict) {
  return Json::parse(verdict_json(verdict));
}

TEST(VerdictJson, KeysOfTheDesignComeFirstAndInItsOrder) {
  for (const auto& example : {plateau_example, undecided_example, leak_example, spikes_example,
                              warming_example, empty_example}) {
    std::vector<std::string> keys = keys_of(parsed(example()));
    keys.resize(15);
    EXPECT_THAT(keys, ElementsAre("file", "verdict", "confidence", "risk", "component", "process",
                                  "steps", "growth", "settled", "epoch_steps", "spikes", "causes",
                                  "decides_at_step", "experiment", "evidence"));
  }
}

TEST(VerdictJson, InnerKeysAreThoseOfTheDesign) {
  const Json plateau = parsed(plateau_example());
  EXPECT_THAT(keys_of(plateau["risk"]), ElementsAre("oom", "at_step", "limit_mb"));
  EXPECT_THAT(keys_of(plateau["steps"]), ElementsAre("first", "last"));
  EXPECT_THAT(keys_of(plateau["growth"]), ElementsAre("rate_mb_per_step", "rate_low", "rate_high"));
  EXPECT_THAT(keys_of(plateau["settled"]), ElementsAre("step", "mb", "low_mb", "high_mb"));
  EXPECT_THAT(keys_of(plateau["spikes"]), ElementsAre("count", "height_mb"));
  EXPECT_THAT(keys_of(plateau["causes"][0]),
              ElementsAre("name", "weight", "evidence", "confirm", "fact", "likelihood"));
  EXPECT_THAT(keys_of(parsed(leak_example())["process"]),
              ElementsAre("name", "role", "pid", "index"));
}

TEST(VerdictJson, UnknownIsNull) {
  const Json empty = parsed(empty_example());
  for (const char* key : {"process", "settled", "epoch_steps", "decides_at_step", "experiment"}) {
    EXPECT_TRUE(empty[key].is_null()) << key;
  }
  EXPECT_TRUE(empty["risk"]["oom"].is_null());
  EXPECT_TRUE(empty["steps"]["first"].is_null());
  EXPECT_TRUE(empty["growth"]["rate_mb_per_step"].is_null());
}

TEST(VerdictJson, ProcessWithoutPidHasAnIndex) {
  Verdict verdict = leak_example();
  verdict.process->id_is_pid = false;
  verdict.process->id = 3;
  const Json process = parsed(verdict)["process"];
  EXPECT_TRUE(process["pid"].is_null());
  EXPECT_EQ(process["index"], 3);
}

TEST(VerdictJson, IsOneLineOfValidUtf8WhateverTheLogHeld) {
  Verdict verdict = leak_example();
  verdict.file = "a\nb\xff\x1b[31m";
  const std::string text = verdict_json(verdict);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(Json::parse(text)["file"], "a\nb\uFFFD\x1b[31m");
}

TEST(VerdictJson, NumbersArriveUnrounded) {
  const Json leak = parsed(leak_example());
  EXPECT_EQ(leak["growth"]["rate_mb_per_step"], leak_example().rate_mb_per_step);
  EXPECT_EQ(leak["process"]["index"], leak_example().process->id);
  EXPECT_EQ(leak["verdict"], "leak");
}

}  // namespace
}  // namespace plateau
