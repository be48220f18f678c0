// SPDX-License-Identifier: Apache-2.0
#include "serve/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace plateau {
namespace {

using testing::HasSubstr;
using testing::Not;

RunFacts leaking_run(const std::string& name) {
  RunFacts run;
  run.id = "0123456789abcdef";
  run.name = name;
  run.path = "/runs/" + name;
  run.version = 1;
  run.live = true;
  run.changed_unix_s = 1.7e9;
  Verdict verdict;
  verdict.word = Word::leak;
  verdict.confidence = 0.97;
  verdict.component = "owned";
  verdict.clock = Clock::steps;
  verdict.samples = 80;
  verdict.last_step = 800;
  verdict.total_steps = 5000;
  verdict.epoch_steps = 83;
  verdict.current_rate_mb_per_step = 10.5;
  verdict.risk = {.oom = 0.75, .at_step = 1800, .at_step_range = {}, .limit_mb = 20000};
  verdict.components = {{.name = "owned", .last_mb = 9000.25}, {.name = "shmem", .last_mb = 12}};
  verdict.processes = {{.id = 4242,
                        .id_is_pid = true,
                        .name = "python \"x\"\\\n<b>",
                        .role = Role::main,
                        .last_mb = 9000,
                        .growth_mb = 8000,
                        .share = 1}};
  run.verdict = verdict;
  return run;
}

RunFacts unreadable_run() {
  RunFacts run;
  run.id = "fedcba9876543210";
  run.name = "broken.plateau";
  run.path = "/runs/broken.plateau";
  run.version = 1;
  run.trouble = "broken.plateau is no recording";
  return run;
}

std::string expose(Dialect dialect) {
  const RunFacts leak = leaking_run("a.plateau");
  const RunFacts broken = unreadable_run();
  const std::vector<const RunFacts*> runs = {&leak, &broken};
  ServerFigures server;
  server.requests = {{200, 7}, {404, 1}};
  std::vector<MetricsText> texts;
  for (const RunFacts* run : runs) texts.push_back(run_metrics(*run, dialect));
  std::vector<const MetricsText*> all;
  for (const MetricsText& text : texts) all.push_back(&text);
  return exposition(all, server, dialect);
}

TEST(Dialect, FollowsWhatTheScraperAccepts) {
  const char* prometheus =
      "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;"
      "q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
  EXPECT_EQ(dialect_for(prometheus), Dialect::open_metrics);
  EXPECT_EQ(dialect_for(""), Dialect::prometheus_text);
  EXPECT_EQ(dialect_for("*/*"), Dialect::prometheus_text);
  EXPECT_EQ(dialect_for("text/plain;version=0.0.4"), Dialect::prometheus_text);
  EXPECT_EQ(dialect_for("text/plain, application/openmetrics-text;q=0.5"),
            Dialect::prometheus_text);
  EXPECT_EQ(dialect_for("application/openmetrics-text;q=0"), Dialect::prometheus_text);
  EXPECT_EQ(dialect_for("Application/OpenMetrics-Text; q=0.3"), Dialect::open_metrics);
  EXPECT_EQ(dialect_for(",;,;;q=,="), Dialect::prometheus_text);
}

TEST(Exposition, MemoryIsInBytes) {
  const std::string text = expose(Dialect::open_metrics);
  EXPECT_THAT(text, HasSubstr("plateau_owned_memory_bytes{run=\"a.plateau\"} 9000250000\n"));
  EXPECT_THAT(text,
              HasSubstr("plateau_memory_bytes{run=\"a.plateau\",component=\"shmem\"} 12000000\n"));
  EXPECT_THAT(text, HasSubstr("plateau_memory_limit_bytes{run=\"a.plateau\"} 20000000000\n"));
  EXPECT_THAT(text, HasSubstr("plateau_growth_bytes_per_step{run=\"a.plateau\"} 10500000\n"));
}

TEST(Exposition, TheLengthOfAnEpochIsToldBesideTheSteps) {
  const std::string text = expose(Dialect::open_metrics);
  EXPECT_THAT(text, HasSubstr("plateau_last_step{run=\"a.plateau\"} 800\n"));
  EXPECT_THAT(text, HasSubstr("plateau_epoch_steps{run=\"a.plateau\"} 83\n"));
}

TEST(Exposition, VerdictIsAStateset) {
  const std::string text = expose(Dialect::open_metrics);
  EXPECT_THAT(text, HasSubstr("# TYPE plateau_verdict stateset\n"));
  EXPECT_THAT(text, HasSubstr("plateau_verdict{run=\"a.plateau\",plateau_verdict=\"leak\"} 1\n"));
  EXPECT_THAT(text,
              HasSubstr("plateau_verdict{run=\"a.plateau\",plateau_verdict=\"plateau\"} 0\n"));
  EXPECT_THAT(expose(Dialect::prometheus_text), HasSubstr("# TYPE plateau_verdict gauge\n"));
}

TEST(Exposition, WhatIsNotKnownIsLeftOut) {
  const std::string text = expose(Dialect::open_metrics);
  EXPECT_THAT(text, HasSubstr("plateau_run_readable{run=\"broken.plateau\"} 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("plateau_memory_bytes{run=\"broken")));
  EXPECT_THAT(text, Not(HasSubstr("plateau_forecast_memory_bytes")));
  EXPECT_THAT(text, Not(HasSubstr("plateau_growth_bytes_per_second")));
}

TEST(Exposition, OnlyOpenMetricsHasUnitsAndAnEnd) {
  const std::string open = expose(Dialect::open_metrics);
  EXPECT_TRUE(open.ends_with("# EOF\n"));
  EXPECT_THAT(open, HasSubstr("# UNIT plateau_memory_bytes bytes\n"));
  EXPECT_THAT(open, HasSubstr("# TYPE plateau_http_requests counter\n"));
  EXPECT_THAT(open, HasSubstr("# TYPE plateau_build info\n"));
  const std::string text = expose(Dialect::prometheus_text);
  EXPECT_THAT(text, Not(HasSubstr("# EOF")));
  EXPECT_THAT(text, Not(HasSubstr("# UNIT")));
  EXPECT_THAT(text, HasSubstr("# TYPE plateau_http_requests_total counter\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE plateau_build_info gauge\n"));
  EXPECT_THAT(text, HasSubstr("plateau_http_requests_total{code=\"200\"} 7\n"));
}

TEST(Exposition, NamesOfProcessesAreEscaped) {
  EXPECT_THAT(expose(Dialect::open_metrics), HasSubstr(R"(name="python \"x\"\\\n<b>"})"));
}

TEST(EscapedLabel, HoldsNoByteThatEndsItEarly) {
  EXPECT_EQ(escaped_label("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
  EXPECT_EQ(escaped_label(std::string_view("a\0b", 3)),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(escaped_label("\xff"), "\xEF\xBF\xBD");
  EXPECT_EQ(escaped_label("Größe"), "Größe");
}

// The linter of Prometheus itself, where it is installed. It reads the older format.
TEST(Exposition, PassesPromtool) {
  if (std::system("command -v promtool >/dev/null") != 0) GTEST_SKIP() << "no promtool here";
  const std::string file = testing::TempDir() + "plateau-metrics.txt";
  std::ofstream(file) << expose(Dialect::prometheus_text);
  const std::string command = "promtool check metrics <" + file + " 2>&1";
  FILE* lint = popen(command.c_str(), "r");
  ASSERT_NE(lint, nullptr);
  std::string said;
  for (int c = std::fgetc(lint); c != EOF; c = std::fgetc(lint)) said += static_cast<char>(c);
  EXPECT_EQ(pclose(lint), 0) << said;
  EXPECT_EQ(said, "");
  std::remove(file.c_str());
}

}  // namespace
}  // namespace plateau
