// SPDX-License-Identifier: Apache-2.0
#include "recording/tidy_csv.h"

#include <gtest/gtest.h>

namespace plateau {
namespace {

plateau::Run tree() {
  plateau::Run run;
  run.processes = {{.id = 0, .parent = -1, .id_is_pid = false, .name = "python, main", .role = {}},
                   {.id = 1, .parent = 0, .id_is_pid = false, .name = "", .role = {}}};
  run.instants = {{.step = 2, .time_s = 1.5, .epoch = 0.25},
                  {.step = 4, .time_s = 2, .epoch = 0.5}};
  run.series = {{0, Metric::rss, "rss", {100.25, 101}}, {1, Metric::rss, "rss", {7, kMissing}}};
  run.gauges = {{"threads", 0, {3, 4}}};
  run.events = {{1, EventKind::eval, "eval"}};
  return run;
}

TEST(TidyCsv, HasOneRowPerInstantAndLivingProcess) {
  const plateau::Run run = tree();
  EXPECT_EQ(tidy_csv({&run, 1}),
            "t_s,step,epoch,event,proc,name,parent,rss_mb,threads\n"
            "1.5,2,0.25,,0,\"python, main\",,100.25,3\n"
            "1.5,2,0.25,,1,,0,7,\n"
            "2,4,0.5,eval,0,\"python, main\",,101,4\n");
}

TEST(TidyCsv, SeveralRunsAreNumberedAndFactsBecomeColumns) {
  std::vector<plateau::Run> runs = {tree(), tree()};
  runs[1].context.examples = Fact{663, "line 4"};
  const std::string text = tidy_csv(runs);
  EXPECT_TRUE(text.starts_with("run,t_s,")) << text;
  EXPECT_NE(text.find("context.examples\n1,"), std::string::npos) << text;
  EXPECT_NE(text.find("\n2,2,4,0.5,eval,0,\"python, main\",,101,4,663\n"), std::string::npos)
      << text;
}

TEST(TidyCsv, EventTextsCannotBreakTheTable) {
  plateau::Run run = tree();
  run.events = {{0, EventKind::mark, "a\nb; \"c\""}, {0, EventKind::checkpoint, "checkpoint"}};
  EXPECT_NE(tidy_csv({&run, 1}).find(",\"mark:a b, \"\"c\"\";checkpoint\",0,"), std::string::npos);
}

TEST(TidyCsv, NamesDoNothingToWhoeverOpensTheTable) {
  plateau::Run run = tree();
  run.processes[0].name = "=HYPERLINK(\"http://x\")";
  run.processes[1].name =
      "\x1b]0;title\a\xc2\x9b"
      "31mred\x7f\xff";
  run.events = {{0, EventKind::mark, "\x1b[2J"}};
  const std::string text = tidy_csv({&run, 1});
  EXPECT_NE(text.find("\"'=HYPERLINK(\"\"http://x\"\")\""), std::string::npos) << text;
  for (const char* start : {"=", "+1", "-c", "@x", "\uff1dx"}) {
    run.processes[0].name = start;
    EXPECT_NE(tidy_csv({&run, 1}).find(std::string(",'") + start + ","), std::string::npos);
  }
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    EXPECT_TRUE(c >= 0x20 || c == '\n') << i;
    EXPECT_NE(c, 0x7f);
  }
  EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos) << "C1 too";
}

TEST(TidyCsv, LongRunsComeInPieces) {
  plateau::Run run = tree();
  for (int64_t step = 5; step < 20000; ++step) {
    run.instants.push_back({.step = step, .time_s = 3, .epoch = 1});
    for (Series& series : run.series) series.mb.push_back(1);
    run.gauges[0].value.push_back(1);
  }
  size_t pieces = 0;
  write_tidy_csv({&run, 1}, [&pieces](std::string_view) { ++pieces; });
  EXPECT_GT(pieces, 5u);
}

}  // namespace
}  // namespace plateau
