// SPDX-License-Identifier: Apache-2.0
#include "tell/curves.h"

#include <gmock/gmock.h>

#include "tell/bridge.h"
#include "tell/teller.h"

namespace plateau {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

ProcessSample process(pid_t pid, Role role, int64_t anon_kb) {
  ProcessSample sample;
  sample.key.pid = pid;
  sample.role = role;
  sample.pss_anon_kb = anon_kb;
  return sample;
}

TEST(Curves, MemoryIsSummedByRole) {
  Snapshot snapshot;
  snapshot.processes = {process(1, Role::main, 1000000), process(2, Role::data_worker, 250000),
                        process(3, Role::data_worker, 250000)};
  const Curves curves = curves_of({.step = 1, .snapshot = &snapshot});
  EXPECT_THAT(curves, Contains(Pair("memory/owned_mb", testing::DoubleNear(1536, 0.1))));
  EXPECT_THAT(curves, Contains(Pair("memory/main_mb", testing::DoubleNear(1024, 0.1))));
  EXPECT_THAT(curves, Contains(Pair(HasSubstr("worker"), testing::DoubleNear(512, 0.1))));
}

TEST(Curves, TheVerdictIsAHeightAndTheForecastABand) {
  Verdict verdict;
  verdict.word = Word::warming;
  verdict.plot = {{1, 900, false}, {2, 1000, false}, {3, 5000, true}};
  verdict.forecast = Verdict::Forecast{2000, {1800, 2300}, std::nullopt};
  const Curves curves = curves_of({.verdict = &verdict});
  EXPECT_THAT(curves, Contains(Pair("plateau/verdict", 1.0)));
  EXPECT_THAT(curves, Contains(Pair("plateau/floor_mb", 1000.0)));
  EXPECT_THAT(curves, Contains(Pair("plateau/forecast_high_mb", 2300.0)));
  EXPECT_LT(height_of(Word::plateau), height_of(Word::leak));
}

TEST(Curves, MemoryThatTheJobLetGoOfAtItsEndIsNotDrawn) {
  Verdict verdict;
  verdict.last_mb = 242;
  Curves ending = {{"memory/owned_mb", 61}, {"memory/main_mb", 61}, {"plateau/verdict", 3}};
  leave_out_tear_down(ending, verdict);
  EXPECT_EQ(ending, (Curves{{"plateau/verdict", 3}}));
  const Curves whole = {{"memory/owned_mb", 240}, {"memory/main_mb", 240}};
  Curves kept = whole;
  leave_out_tear_down(kept, verdict);
  EXPECT_EQ(kept, whole);
}

TEST(Curves, AMomentWithoutAnythingHasNone) {
  EXPECT_TRUE(curves_of({}).empty());
}

TEST(Webhook, TheBodyIsTheAnswerWithALineForAChat) {
  Verdict verdict;
  verdict.word = Word::leak;
  verdict.confidence = 0.97;
  const std::string body = webhook_body(verdict, false, "train\x1b[31m.py\n");
  EXPECT_THAT(body, StartsWith(R"({"text":"LEAK, 97 %)"));
  EXPECT_THAT(body, HasSubstr(R"("event":"change","file":)"));
  EXPECT_THAT(body, HasSubstr(R"("verdict":"leak")"));
  const std::string line = body.substr(0, body.find("\"event\""));
  EXPECT_THAT(line, Not(HasSubstr("\\u001b")));
}

TEST(Bridge, TheInterpreterIsTheJobsOwn) {
  EXPECT_EQ(python_of({"/venv/bin/python3.11", "train.py"}), "/venv/bin/python3.11");
  EXPECT_EQ(python_of({"python", "train.py"}), "python");
  EXPECT_EQ(python_of({"no-such-launcher-anywhere"}), "python3");
  EXPECT_EQ(python_of({}), "python3");
}

}  // namespace
}  // namespace plateau
