// SPDX-License-Identifier: Apache-2.0
#include "page/page_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "answer/answer.h"
#include "recording/heap_track_for_test.h"
#include "report/json.h"
#include "verdict/test_runs.h"

namespace plateau {
namespace {

using Json = nlohmann::json;
using PlateauRun = plateau::Run;
using ::testing::HasSubstr;

std::string document(const PlateauRun& run, const AnswerOptions& options = {}) {
  const Answer answer = detailed_answer(run, options);
  return page_data_json({&run, 1}, {&answer, 1});
}

Json page_of(const PlateauRun& run, const AnswerOptions& options = {}) {
  return Json::parse(document(run, options))["runs"][0];
}

// A parent, `workers` children that each hold more than the one before, and times.
PlateauRun tree_of(size_t workers, size_t instants) {
  PlateauRun run;
  run.source = "tree";
  run.command = "python train.py";
  run.processes.push_back({.id = 100, .id_is_pid = true, .name = "python", .role = Role::main});
  for (size_t w = 0; w < workers; ++w) {
    run.processes.push_back({.id = 101 + static_cast<int64_t>(w),
                             .parent = 100,
                             .id_is_pid = true,
                             .name = "worker",
                             .role = Role::data_worker,
                             .role_reason = "forked by pid 100"});
  }
  for (size_t i = 0; i < instants; ++i) {
    run.instants.push_back({.step = static_cast<int64_t>(i + 1), .time_s = 2.0 * double(i)});
  }
  for (size_t p = 0; p < run.processes.size(); ++p) {
    Series series{.process = p, .metric = Metric::pss_anon, .label = "pss_anon", .mb = {}};
    for (size_t i = 0; i < instants; ++i) {
      series.mb.push_back(100 + 10 * double(p) + (p == 1 ? double(i) : 0));
    }
    run.series.push_back(std::move(series));
  }
  return run;
}

void expect_shape(const Json& page) {
  const size_t rows = page["x"].size();
  EXPECT_EQ(page["samples"]["shown"], rows);
  for (const Json& line : page["lines"]) EXPECT_EQ(line["mb"].size(), rows) << line["name"];
  for (const Json& gauge : page["gauges"]) EXPECT_EQ(gauge["value"].size(), rows);
  if (!page["time_s"].is_null()) {
    EXPECT_EQ(page["time_s"].size(), rows);
  }
  EXPECT_TRUE(std::is_sorted(page["x"].begin(), page["x"].end()));
  for (const Json& moment : page["replay"]) {
    EXPECT_EQ(moment["weights"].size(), page["explanations"].size());
  }
}

TEST(PageData, ProductionLogHasItsVerdictAndItsSentences) {
  const PlateauRun run = with_production_context(run_of(production_run2()));
  const Json page = page_of(run);
  expect_shape(page);
  EXPECT_EQ(page["verdict"]["verdict"], "plateau");
  EXPECT_EQ(page["clock"], "step");
  EXPECT_THAT(page["said"]["since"].get<std::string>(), HasSubstr("level since step 8"));
  EXPECT_THAT(page["said"]["headline"].get<std::string>(), HasSubstr("no leak"));
  EXPECT_FALSE(page["said"]["why"].empty());
  EXPECT_FALSE(page["said"]["next"].empty());
  EXPECT_EQ(page["epochs"][0], 83);
  EXPECT_EQ(page["context"][0]["source"], "--examples");
  EXPECT_EQ(page["samples"]["how"], "all");
  ASSERT_EQ(page["lines"].size(), 1U);
  EXPECT_EQ(page["lines"][0]["name"], "owned");
  EXPECT_TRUE(page["lines"][0]["judged"].get<bool>());
  EXPECT_EQ(page["lines"][0]["mb"][0], 5434);
}

TEST(PageData, SentencesAreWordsAndFiguresWithTheirField) {
  const Json said = page_of(with_production_context(run_of(production_run2())))["said"];
  EXPECT_EQ(said["course"]["label"], "Grew");
  EXPECT_EQ(said["course"]["text"][0][1], "first_mb");
  EXPECT_EQ(said["course"]["text"][1], " over ");
  EXPECT_EQ(said["why"][0]["role"], "cause");
  EXPECT_EQ(said["why"][0]["lead"], "Cause:");
  EXPECT_EQ(said["next"][0]["role"], "outlook");
  EXPECT_TRUE(said["undecided"].empty());
  EXPECT_TRUE(said["who"].empty());
}

TEST(PageData, DetailsStandBesideTheListsOfTheVerdict) {
  const Json page = page_of(with_production_context(run_of(production_run1())));
  for (const char* list : {"evidence", "causes", "explanations"}) {
    EXPECT_EQ(page["said"][list].size(), page["verdict"][list].size()) << list;
  }
  EXPECT_FALSE(page["said"]["undecided"].empty());
}

TEST(PageData, VerdictIsThatOfTheAnswer) {
  PlateauRun run = with_production_context(run_of(production_run1()));
  EXPECT_EQ(page_of(run)["verdict"], Json::parse(verdict_json(answer_run(run).verdict)));
}

TEST(PageData, ReplayEndsInTheVerdict) {
  const PlateauRun run = with_production_context(run_of(production_run2()));
  const Json page = page_of(run);
  ASSERT_FALSE(page["replay"].empty());
  EXPECT_EQ(page["replay"].back()["verdict"], page["verdict"]["verdict"]);
  EXPECT_EQ(page["replay"].back()["x"], 240);
  EXPECT_FALSE(page["knew_at"].is_null());
  const Json without = page_of(run, {.moments = 0});
  EXPECT_TRUE(without["replay"].empty());
  EXPECT_TRUE(without["knew_at"].is_null());
}

TEST(PageData, GrowthThatSetsInLateIsDated) {
  const PlateauRun run =
      run_of(1000, 10, [](double step) { return 100 + (step > 400 ? step - 400 : 0); });
  EXPECT_EQ(page_of(run)["said"]["since"], "growing since step 400");
  const PlateauRun steady = run_of(1000, 10, [](double step) { return 100 + step; });
  EXPECT_EQ(page_of(steady)["said"]["since"], "growing from the start");
}

TEST(PageData, ProcessesAreATreeWithTheirShares) {
  const Json page = page_of(tree_of(3, 40));
  expect_shape(page);
  ASSERT_EQ(page["processes"].size(), 4U);
  EXPECT_TRUE(page["processes"][0]["parent"].is_null());
  EXPECT_EQ(page["processes"][1]["parent"], 0);
  EXPECT_EQ(page["processes"][1]["role"], "data worker");
  EXPECT_EQ(page["processes"][1]["first_x"], 1);
  EXPECT_EQ(page["processes"][1]["last_x"], 40);
  EXPECT_EQ(page["processes"][1]["peak_mb"], 149);
  EXPECT_GT(page["processes"][1]["share"], 0.9);
  size_t lines = 0;
  for (const Json& line : page["lines"]) lines += line["group"] == "process";
  EXPECT_EQ(lines, 4U);
  EXPECT_EQ(page["command"], "python train.py");
  EXPECT_EQ(page["time_s"][1], 2);
}

TEST(PageData, ManyProcessesAreBoundedAndSaid) {
  const Json page = page_of(tree_of(600, 20), {.moments = 2});
  expect_shape(page);
  EXPECT_LE(page["processes"].size(), 301U);
  double drawn = 0, owned = 0;
  for (const Json& line : page["lines"]) {
    (line["group"] == "process" ? drawn : owned) += line["mb"][0].get<double>();
  }
  EXPECT_NEAR(drawn, owned, 1);
  EXPECT_THAT(page["notes"].dump(), HasSubstr("of 601 processes are listed"));
}

TEST(PageData, AProcessThatIsItsOwnAncestorHasNoParent) {
  PlateauRun run = tree_of(2, 5);
  run.processes[0].parent = 101;
  const Json page = page_of(run);
  EXPECT_TRUE(page["processes"][0]["parent"].is_null());
  EXPECT_TRUE(page["processes"][1]["parent"].is_null());
  EXPECT_EQ(page["processes"][2]["parent"], 0);
}

TEST(PageData, AMillionSamplesKeepTheirPeak) {
  std::vector<std::pair<int64_t, double>> points;
  for (int64_t i = 1; i <= 1000000; ++i) points.emplace_back(i, i == 654321 ? 9000 : 500);
  const Json page = page_of(run_of(points), {.moments = 2});
  expect_shape(page);
  EXPECT_EQ(page["samples"]["taken"], 1000000);
  EXPECT_EQ(page["samples"]["shown"], kMostShown);
  EXPECT_EQ(page["samples"]["how"], "extremes");
  EXPECT_EQ(page["x"].front(), 1);
  EXPECT_EQ(page["x"].back(), 1000000);
  const std::vector<double> mb = page["lines"][0]["mb"];
  EXPECT_EQ(*std::max_element(mb.begin(), mb.end()), 9000);
}

TEST(PageData, HostileNamesAreTextInJson) {
  PlateauRun run = tree_of(1, 10);
  run.source = "</script><script>alert(1)</script>";
  run.command = "a\x1b[31m\"b\\";
  run.processes[0].name = "<img src=x onerror=alert(1)>\xff";
  run.events.push_back({.instant = 3, .kind = EventKind::mark, .text = "<b>\n</b>"});
  run.notes.push_back("\xE2\x80\xAEnote");
  const Json page = page_of(run);
  EXPECT_EQ(page["source"], run.source);
  EXPECT_EQ(page["processes"][0]["name"], "<img src=x onerror=alert(1)>\xEF\xBF\xBD");
  EXPECT_EQ(page["command"], "a\"b\\");
  EXPECT_EQ(page["marks"][0]["text"], "<b> </b>");
  EXPECT_EQ(page["marks"][0]["x"], 4);
}

TEST(PageData, OneSampleAndNoSampleGiveADocument) {
  const Json one = page_of(run_of({{10, 500}}));
  expect_shape(one);
  EXPECT_EQ(one["samples"]["taken"], 1);
  EXPECT_EQ(one["verdict"]["verdict"], "undecided");
  EXPECT_TRUE(one["said"]["since"].is_null());
  const Json none = page_of(PlateauRun{});
  expect_shape(none);
  EXPECT_TRUE(none["x"].empty());
  EXPECT_EQ(none["verdict"]["verdict"], "undecided");
  const Json empty = Json::parse(empty_page_json());
  EXPECT_TRUE(empty["runs"].empty());
  EXPECT_EQ(empty["schema"], 2);
}

TEST(PageData, TwoRunsAreCompared) {
  const PlateauRun leak = run_of(1000, 10, [](double step) { return 1000 + 2 * step; });
  const PlateauRun flat = run_of(1000, 10, [](double) { return 1000.0; });
  const std::vector<PlateauRun> runs = {leak, flat};
  const std::vector<Answer> answers = {answer_run(leak), answer_run(flat)};
  const Comparison comparison = compare(std::span<const PlateauRun>(runs));
  const Json page = Json::parse(page_data_json(runs, answers, &comparison));
  ASSERT_EQ(page["runs"].size(), 2U);
  EXPECT_EQ(page["comparison"]["sides"].size(), 2U);
  EXPECT_TRUE(Json::parse(document(leak))["comparison"].is_null());
}

TEST(PageData, HeapsNameStacksByIndex) {
  PlateauRun run = tree_of(1, 20);
  HeapTrack track = RandomTrack({.sites = 500, .rows = 20}).make();
  track.pid = 101;
  run.heaps.push_back(track);
  const Json page = page_of(run);
  ASSERT_EQ(page["heaps"].size(), 1U);
  const Json& heap = page["heaps"][0];
  EXPECT_EQ(heap["pid"], 101);
  EXPECT_EQ(heap["process"], "worker");
  EXPECT_LE(heap["stacks"].size(), 300U);
  EXPECT_LE(heap["sites"].size(), 40U);
  double shown_mb = heap["others_mb"];
  for (const Json& stack : heap["stacks"]) {
    shown_mb += stack["mb"].get<double>();
    ASSERT_FALSE(stack["frames"].empty());
    for (const Json& frame : stack["frames"]) EXPECT_LT(frame, heap["frames"].size());
  }
  const double all_mb = heap["to_mb"];
  EXPECT_NEAR(shown_mb, all_mb, 0.001 * all_mb);
  for (const Json& site : heap["sites"]) {
    EXPECT_EQ(site["x"].size(), site["mb"].size());
    EXPECT_TRUE(site["stack"].is_null() || site["stack"] < heap["stacks"].size());
  }
}

TEST(PageData, AStackThatHeldMostAtThePeakIsShownThoughItIsGoneAtBothEnds) {
  PlateauRun run = tree_of(1, 20);
  HeapTrack track = RandomTrack({.sites = 500, .rows = 20}).make();
  track.pid = 101;
  track.python_hooked = false;
  const uint32_t spike = track.rows[10].cells.at(0).site;
  for (size_t row = 0; row < track.rows.size(); ++row) {
    for (HeapCell& cell : track.rows[row].cells) {
      if (cell.site == spike) cell.live_bytes = row == 10 ? 9e12 : 0;
    }
  }
  run.heaps.push_back(track);
  const Json heap = page_of(run)["heaps"][0];
  EXPECT_GE(heap["peak_mb"], 9e6);
  double largest_mb = 0;
  for (const Json& stack : heap["stacks"]) {
    largest_mb = std::max(largest_mb, stack["peak_mb"].get<double>());
  }
  EXPECT_GE(largest_mb, 9e6);
  EXPECT_GT(heap["peak"], heap["from"]);
  EXPECT_LT(heap["peak"], heap["to"]);
}

TEST(PageData, SeveralHeapsAreAlsoSummed) {
  PlateauRun run = tree_of(2, 20);
  for (const int64_t pid : {101, 102}) {
    HeapTrack track = RandomTrack({.sites = 20, .rows = 10}).make();
    track.pid = pid;
    run.heaps.push_back(track);
  }
  const Json heaps = page_of(run)["heaps"];
  ASSERT_FALSE(heaps.empty());
  EXPECT_EQ(heaps.back()["pid"], 0);
  EXPECT_EQ(heaps.back()["process"], "all processes");
}

TEST(PageData, CountsWithoutAHeapAreShown) {
  PlateauRun run = tree_of(1, 60);
  Gauge gauge{.name = "objects.dict", .process = 0, .value = {}};
  for (size_t i = 0; i < run.instants.size(); ++i) gauge.value.push_back(1000 + 50 * double(i));
  run.gauges.push_back(gauge);
  const Json page = page_of(run);
  expect_shape(page);
  ASSERT_EQ(page["heaps"].size(), 1U);
  EXPECT_EQ(page["heaps"][0]["types"][0]["name"], "dict");
  EXPECT_TRUE(page["heaps"][0]["stacks"].empty());
}

TEST(PageData, IsTheSameForTheSameRun) {
  const PlateauRun run = tree_of(3, 50);
  EXPECT_EQ(document(run), document(run));
}

}  // namespace
}  // namespace plateau
