// SPDX-License-Identifier: Apache-2.0
#include "fleet/round.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

namespace plateau::fleet {
namespace {

using testing::HasSubstr;

constexpr double kEnd = 1.7e9;

// Answers like a database that holds some pods, and fails as it is told to.
struct MadeUpDatabase {
  size_t pods = 40;
  size_t most_pods_asked = 1000;  // For more at once it answers `when_too_many`.
  int when_too_many = 422;
  size_t dies_after = 1'000'000;  // Requests.
  std::string garbage;            // Instead of samples.
  std::string warning;
  size_t most_pods_named = 1000;  // By /series; to more than that it answers 422.
  double work_ramp_s = 0;         // Tells of a level work whose rate begins at 0; 0: tells of none.
  bool lies_about_time = false;   // Goes on for a day after the end, and has what is no number.
  std::atomic<size_t> requests = 0;

  static std::string pod(size_t i) { return fmt::format("api{}-bcdfg", i); }

  std::string samples_of(size_t i) const {
    std::string values;
    for (int k = 0; k < 120; ++k) {
      const double mb = 200 + (i == 3 ? 2.0 * k : 0) + (k * 7919 % 13) * 0.1;
      values +=
          fmt::format("{}[{},\"{:.0f}\"]", k == 0 ? "" : ",", kEnd - 21'600 + 180 * k, mb * 1e6);
    }
    for (int k = 1; k < 480 && lies_about_time; ++k) {
      values += fmt::format(",[{},\"{}\"]", kEnd + 180 * k, k % 2 == 0 ? "900000000" : "NaN");
    }
    return fmt::format(
        R"({{"metric":{{"namespace":"n","pod":"{}","container":"c"}},"values":[{}]}})", pod(i),
        values);
  }

  // As query_range tells it, of the one that climbs.
  [[nodiscard]] std::string work() const {
    std::string values;
    for (int k = 0; k < 96; ++k) {
      const double at = 225.0 * k;
      values += fmt::format("{}[{},\"{}\"]", k == 0 ? "" : ",", kEnd - 21'600 + at,
                            std::min(at / work_ramp_s, 1.0));
    }
    return fmt::format(
        R"({{"status":"success","data":{{"resultType":"matrix","result":[{{"metric":{{"namespace":"n","pod":"{}","container":"c"}},"values":[{}]}}]}}}})",
        pod(3), values);
  }

  HttpAnswer answer(const std::string& path, const std::string& form) {
    if (work_ramp_s > 0 && form.find("container_cpu_usage") != std::string::npos) {
      return {200, "", work()};
    }
    std::string results;
    size_t asked = 0;
    const bool matrix = form.find("%5B21600s%5D&") != std::string::npos &&
                        form.find("container_memory_rss") != std::string::npos;
    const bool counted = form.find("count%20by%28pod%29") != std::string::npos;
    const bool some = matrix || form.find("pod%3D~") != std::string::npos;
    const bool others = form.find("pod%21~") != std::string::npos;
    for (size_t i = 0; i < pods && (matrix || counted || path == "/api/v1/series"); ++i) {
      // "api4-" is not "api14-": the name follows a quote or a bar.
      const bool named = form.find(fmt::format("%22api{}-", i)) != std::string::npos ||
                         form.find(fmt::format("%7Capi{}-", i)) != std::string::npos;
      if ((some && !named) || (others && named)) continue;
      if (counted) {
        // The last one had its last sample hours ago.
        if (i + 1 == pods) continue;
        if (!results.empty()) results += ',';
        results += fmt::format(R"({{"metric":{{"pod":"{}"}},"value":[{},"1"]}})", pod(i), kEnd);
        continue;
      }
      ++asked;
      if (!results.empty()) results += ',';
      results += matrix ? samples_of(i)
                        : fmt::format(R"({{"namespace":"n","pod":"{}","container":"c"}})", pod(i));
    }
    if (path == "/api/v1/series" && asked > most_pods_named) {
      return {422, "application/json", R"({"status":"error","error":"too many names"})"};
    }
    if (matrix && asked > most_pods_asked) {
      return {when_too_many, "application/json", R"({"status":"error","error":"too much"})"};
    }
    if (matrix && !garbage.empty()) return {200, "", garbage};
    const std::string warnings =
        warning.empty() ? "" : fmt::format(R"("warnings":["{}"],)", warning);
    if (path == "/api/v1/series") {
      return {200, "", fmt::format(R"({{"status":"success","data":[{}]}})", results)};
    }
    return {
        200, "",
        fmt::format(R"({{"status":"success",{}"data":{{"resultType":"matrix","result":[{}]}}}})",
                    warnings, results)};
  }

  AskMaker maker() {
    return [this]() -> Result<Ask> {
      return Ask([this](const std::string& path, const std::string& form) -> Result<HttpAnswer> {
        if (++requests > dies_after) {
          return Error{Error::Kind::not_found, "http://db/: connection refused"};
        }
        return answer(path, form);
      });
    };
  }
};

RoundOptions options_for_test() {
  RoundOptions options;
  options.question.preset = preset_named("kubernetes").value();
  options.question.metric = options.question.preset.metric;
  options.question.end_s = kEnd;
  options.patience_s = 0.001;
  options.most_series = 10;
  return options;
}

TEST(Round, JudgesEverySeriesOnce) {
  MadeUpDatabase database;
  const Result<FleetAnswer> answer = judge_fleet(database.maker(), options_for_test());
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer.value().series_judged, 40U);
  EXPECT_EQ(answer.value().series_failed, 0U);
  EXPECT_FALSE(answer.value().partial());
  // Nothing tells the load, so the one that climbs is held back.
  ASSERT_EQ(answer.value().findings.size(), 1U);
  EXPECT_EQ(answer.value().findings[0].workload, "api3");
  EXPECT_TRUE(answer.value().findings[0].held_back);
}

TEST(Round, AsksForLessWhenItWasTooMuch) {
  for (const int status : {422, 429, 503, 504}) {
    MadeUpDatabase database;
    database.most_pods_asked = 3;
    database.when_too_many = status;
    const Result<FleetAnswer> answer = judge_fleet(database.maker(), options_for_test());
    ASSERT_TRUE(answer.ok()) << status;
    EXPECT_EQ(answer.value().series_judged, 40U) << status;
    EXPECT_FALSE(answer.value().partial()) << status;
  }
}

TEST(Round, AsksForNamesInPartsWhereAllAreTooMany) {
  MadeUpDatabase database;
  database.most_pods_named = 7;
  const Result<FleetAnswer> answer = judge_fleet(database.maker(), options_for_test());
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer.value().series_judged, 40U);
  EXPECT_FALSE(answer.value().partial());
}

TEST(Round, FailsIfNoPartIsSmallEnoughToBeNamed) {
  MadeUpDatabase database;
  database.most_pods_named = 0;
  const Result<FleetAnswer> answer = judge_fleet(database.maker(), options_for_test());
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.error().message, HasSubstr("too many names"));
  EXPECT_LT(database.requests, 60U);
}

// A process that has just been started: its memory climbs from its first second on, under a level
// load. The rate of its CPU time rises until it has been there for as long as the rate looks back.
TEST(Round, TakesNoLoadFromTheBeginningOfARate) {
  MadeUpDatabase database;
  database.work_ramp_s = 300;
  RoundOptions options = options_for_test();
  const Result<FleetAnswer> answer = judge_fleet(database.maker(), options);
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer.value().findings.size(), 1U);
  EXPECT_EQ(answer.value().findings[0].workload, "api3");
  EXPECT_EQ(answer.value().findings[0].load, LoadSource::work);
  EXPECT_FALSE(answer.value().findings[0].held_back);
}

TEST(Round, IsPartialIfTheDatabaseDiesInTheMiddle) {
  MadeUpDatabase database;
  database.dies_after = 12;
  const Result<FleetAnswer> answer = judge_fleet(database.maker(), options_for_test());
  ASSERT_TRUE(answer.ok());
  EXPECT_TRUE(answer.value().partial());
  EXPECT_GT(answer.value().series_failed, 0U);
  EXPECT_EQ(answer.value().series_judged + answer.value().series_failed, 40U);
  ASSERT_FALSE(answer.value().troubles.empty());
  EXPECT_THAT(answer.value().troubles[0], HasSubstr("connection refused"));
  EXPECT_LT(database.requests, 60U);  // It is not asked for ever.
}

TEST(Round, FailsIfTheDatabaseIsNotThere) {
  MadeUpDatabase database;
  database.dies_after = 0;
  EXPECT_FALSE(judge_fleet(database.maker(), options_for_test()).ok());
}

TEST(Round, FailsIfTheDatabaseKnowsNoSuchSeries) {
  MadeUpDatabase database;
  database.pods = 0;
  const Result<FleetAnswer> answer = judge_fleet(database.maker(), options_for_test());
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.error().message, HasSubstr("--preset"));
}

TEST(Round, FailsIfNothingButGarbageComes) {
  MadeUpDatabase database;
  database.pods = 4;
  database.garbage = "<html>welcome</html>";
  const Result<FleetAnswer> answer = judge_fleet(database.maker(), options_for_test());
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.error().message, HasSubstr("no JSON"));
}

TEST(Round, LeavesOutWhatLiesOutsideTheWindowAndSaysSo) {
  MadeUpDatabase honest, lying;
  lying.lies_about_time = true;
  const Result<FleetAnswer> right = judge_fleet(honest.maker(), options_for_test());
  const Result<FleetAnswer> answer = judge_fleet(lying.maker(), options_for_test());
  ASSERT_TRUE(right.ok() && answer.ok());
  EXPECT_EQ(answer.value().samples, right.value().samples);
  ASSERT_EQ(answer.value().findings.size(), 1U);
  EXPECT_EQ(answer.value().findings[0].last_mb, right.value().findings[0].last_mb);
  ASSERT_EQ(answer.value().troubles.size(), 1U);
  EXPECT_THAT(answer.value().troubles[0], HasSubstr("outside the window"));
}

TEST(Round, ShowsThatAnAnswerWasPartial) {
  MadeUpDatabase database;
  database.warning = "a store is down";
  const Result<FleetAnswer> answer = judge_fleet(database.maker(), options_for_test());
  ASSERT_TRUE(answer.ok());
  EXPECT_TRUE(answer.value().partial());
  EXPECT_EQ(answer.value().warnings, std::vector<std::string>{"a store is down"});
}

TEST(Round, EndsEarlyWhenItIsStopped) {
  MadeUpDatabase database;
  RoundOptions options = options_for_test();
  options.stopped = [] { return true; };
  const Result<FleetAnswer> answer = judge_fleet(database.maker(), options);
  EXPECT_TRUE(!answer.ok() || answer.value().series_judged == 0);
}

TEST(Statuses, SayWhatToDoNext) {
  EXPECT_EQ(failure_of(200), Failure::none);
  EXPECT_EQ(failure_of(422), Failure::too_much);
  EXPECT_EQ(failure_of(429), Failure::busy);
  EXPECT_EQ(failure_of(503), Failure::busy);
  EXPECT_EQ(failure_of(401), Failure::refused);
  EXPECT_EQ(failure_of(500), Failure::unreachable);
}

TEST(Forms, EscapeEverythingThatIsNotPlain) {
  EXPECT_EQ(form_of({{"query", "a{b=\"c d\"}"}, {"time", "1.5"}}),
            "query=a%7Bb%3D%22c%20d%22%7D&time=1.5");
}

}  // namespace
}  // namespace plateau::fleet
