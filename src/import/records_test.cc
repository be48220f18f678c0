// SPDX-License-Identifier: Apache-2.0
// Tables and records: CSV, JSON lines, and the tools' own formats in their odder forms.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "import/import.h"
#include "recording/checks_for_test.h"

namespace plateau {
namespace {

plateau::Run read_as(const char* format, std::string_view text) {
  ImportOptions options;
  options.format = format;
  auto runs = import_bytes("x", text, options);
  if (!runs.ok()) {
    ADD_FAILURE() << runs.error().message;
    return {};
  }
  EXPECT_EQ(check_shape(runs.value().back()), "");
  return runs.value().back();
}

TEST(Csv, UnitsComeFromColumnNames) {
  struct Case {
    const char* name;
    double expected;
  };
  for (const Case& one :
       {Case{"rss_mb", 2000}, Case{"used_gb", 2000e3}, Case{"mem (MiB)", 2097.152},
        Case{"RSS [KB]", 2}, Case{"memory_bytes", 0.002}, Case{"rssMB", 2000}}) {
    const auto run = read_as("csv", std::string("step,") + one.name + "\n1,2000\n");
    ASSERT_EQ(run.series.size(), 1u) << one.name;
    EXPECT_NEAR(run.series[0].mb[0], one.expected, 1e-9) << one.name;
  }
}

TEST(Csv, AColumnThatCountsTheWorkOfAServerIsKept) {
  for (const auto& [column, gauge] : {std::pair{"requests_per_s", "requests"},
                                      {"Active Connections", "connections"},
                                      {"qps", "qps"},
                                      {"requests in flight", "in_flight"}}) {
    const auto run = read_as("csv", std::string("time,rss_mb,") + column + "\n0,20,5\n60,21,7\n");
    ASSERT_EQ(run.gauges.size(), 1u) << column;
    EXPECT_EQ(run.gauges[0].name, gauge);
    EXPECT_EQ(run.gauges[0].value.back(), 7) << column;
  }
}

TEST(Csv, ProcessThatVanishesHasNoValuesAfterwards) {
  const auto run = read_as("csv", "t_s,step,proc,parent,rss_mb\n1,1,0,,10\n1,1,1,0,5\n2,2,0,,11\n");
  ASSERT_EQ(run.processes.size(), 2u);
  EXPECT_EQ(run.processes[1].parent, 0);
  EXPECT_EQ(run.instants.size(), 2u);
  EXPECT_TRUE(std::isnan(run.series[1].mb[1]));
}

TEST(Csv, QuotesBomTabsAndCrlfAreFine) {
  const auto run = read_as("csv", "\xef\xbb\xbfstep\tname\trss_mb\r\n1\t\"a \"\"b\"\"\"\t7\r\n");
  EXPECT_EQ(run.processes[0].name, "a \"b\"");
  EXPECT_DOUBLE_EQ(run.series[0].mb[0], 7);
}

TEST(Csv, MissingIsNotBadButNonsenseIs) {
  const auto run = read_as("csv", "step,rss_mb\n1,5\n2,nan\n3,\n4,-7\n5,abc\n6,1e30\n7,6\n");
  EXPECT_EQ(run.instants.size(), 2u);
  EXPECT_EQ(run.lines_bad, 3u);
  EXPECT_EQ(run.bad_samples[1], "line 6: cannot read 'abc' in column rss_mb");
}

TEST(Csv, RowsOfOneStepAtDifferentTimesAreDifferentInstants) {
  EXPECT_EQ(read_as("csv", "t_s,step,rss_mb\n1,5,10\n2,5,11\n3,5,12\n").instants.size(), 3u);
}

TEST(JsonLines, NestedKeysAndStringsWithUnits) {
  const auto run =
      read_as("jsonl",
              "starting\n{\"global_step\": 4, \"mem\": {\"rss\": \"5.4 GB\"}}\n{broken\n"
              "{\"global_step\": 5, \"mem\": {\"rss\": \"5.5 GB\"}, \"x\": [1]}\n");
  EXPECT_EQ(run.instants[1].step, 5);
  EXPECT_DOUBLE_EQ(run.series[0].mb[0], 5400);
  EXPECT_EQ(run.lines_bad, 1u);
}

TEST(TrainerState, DeltasAreNotUsageAndBrokenJsonSaysSo) {
  const auto none =
      import_bytes("x", R"({"log_history":[{"step":1,"train_mem_cpu_alloc_delta":5}]})");
  EXPECT_EQ(none.error().kind, Error::Kind::no_samples);
  const auto broken = import_bytes("x", R"({"log_history":[{"step":1,)");
  EXPECT_NE(broken.error().message.find("cannot be parsed"), std::string::npos);
}

// Found by fuzz_mprof: the child's value went into a row that the new run had closed.
TEST(Mprof, ChildRightAfterANewCommandOpensItsOwnRow) {
  const auto run = read_as("mprof", "MEM 10 100\nCHLD 0 5 100.1\nCMDLINE x\nCHLD 0 6 100.2\n");
  ASSERT_EQ(run.instants.size(), 1u);
  EXPECT_NEAR(run.series[0].mb[0], 6 * 1.048576, 1e-9);
}

TEST(Pidstat, TwelveHourClockAndDecimalCommaAreRead) {
  const auto run =
      read_as("pidstat",
              "11:59:59 AM   UID       PID  minflt/s  majflt/s     VSZ     RSS   %MEM  Command\n"
              "12:00:00 PM  1000    177381      1,00      0,00  100000   50000   0,10  python\n"
              "12:00:01 PM  1000    177381      1,00      0,00  100000   60000   0,10  python\n");
  ASSERT_EQ(run.instants.size(), 2u);
  EXPECT_DOUBLE_EQ(run.instants[0].time_s, 43200);
  EXPECT_NEAR(run.series[0].mb[1], 61.44, 1e-9);
  EXPECT_EQ(run.processes[0].name, "python");
}

TEST(Free, GibibytesOfMinusGAreKnownByTheirSmallTotal) {
  const auto run = read_as("free", "total used free\nMem: 62 17 40 0 5 45\nSwap: 1 0 1\n");
  EXPECT_NEAR(run.series[0].mb[0], 17 * 1073.741824, 1e-6);
  EXPECT_NEAR(run.context.limit_mb->value, 62 * 1073.741824, 1e-6);
}

TEST(Ps, BlocksWithoutDatesAreNumbered) {
  const auto run = read_as(
      "ps", "  PID   RSS COMMAND\n 7 1000 a b\n 8 2000 c\n  PID   RSS COMMAND\n 7 1100 a b\n");
  EXPECT_EQ(run.instants.size(), 2u);
  EXPECT_EQ(run.instants[1].step, 1);
  EXPECT_EQ(run.processes[0].name, "a b");
}

TEST(NvidiaSmi, HeaderAlreadyNamingTheUnitNeedsNoneInTheValues) {
  const auto run =
      read_as("nvidia-smi", "index, memory.used [MiB]\n0, 1000\n1, 2000\n0, 1100\n1, 2100\n");
  EXPECT_EQ(run.instants.size(), 2u);
  EXPECT_NEAR(run.series[1].mb[1], 2100 * 1.048576, 1e-9);
}

TEST(Prometheus, FailedQueryIsReportedInItsOwnWords) {
  const auto runs = import_bytes(
      "q.json", R"({"status":"error","error":"parse error","data":{"resultType":""}})");
  EXPECT_EQ(runs.error().message, "q.json is a failed Prometheus query: parse error");
}

TEST(Prometheus, SeriesWithDifferentTimesShareTheUnionOfRows) {
  const auto run = read_as(
      "prometheus",
      R"({"data":{"result":[{"metric":{"pod":"a"},"values":[[10,"1000000"],[20,"2000000"]]},)"
      R"({"metric":{"pod":"b"},"values":[[15,"5000000"],[20,"NaN"]]}]}})");
  EXPECT_EQ(run.instants.size(), 3u);
  EXPECT_DOUBLE_EQ(run.series[1].mb[1], 5);
}

TEST(Wandb, PercentagesOfTheDeviceAreNotAmounts) {
  const auto runs = import_bytes("x",
                                 "\"Step\",\"a - system.gpu.0.memoryAllocated\",\"a - "
                                 "system.gpu.0.memoryAllocatedBytes\"\n1,45,2000000\n");
  ASSERT_TRUE(runs.ok());
  ASSERT_EQ(runs.value()[0].series.size(), 1u);
  EXPECT_DOUBLE_EQ(runs.value()[0].series[0].mb[0], 2);
}

}  // namespace
}  // namespace plateau
