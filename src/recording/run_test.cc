// SPDX-License-Identifier: Apache-2.0
#include "recording/run.h"
#include "recording/checks_for_test.h"

#include <gtest/gtest.h>

namespace plateau {
namespace {

Run three_rows() {
  plateau::Run run;
  run.processes = {Process{}};
  run.instants = {{.step = 1}, {.step = 2}, {.step = 3}};
  run.series = {{.process = 0, .metric = Metric::rss, .label = "rss", .mb = {1, 2, 3}}};
  run.events = {{.instant = 2, .kind = EventKind::eval, .text = "eval"}};
  return run;
}

TEST(Run, PrefixCutsEveryColumnAndLaterEvents) {
  const plateau::Run cut = prefix_of(three_rows(), 2);
  EXPECT_EQ(check_shape(cut), "");
  EXPECT_EQ(cut.series[0].mb.size(), 2u);
  EXPECT_TRUE(cut.events.empty());
}

TEST(Run, RaggedColumnIsNamed) {
  plateau::Run run = three_rows();
  run.series[0].mb.pop_back();
  EXPECT_EQ(check_shape(run), "series rss is ragged");
}

TEST(Names, MetricAndEventNamesRoundTrip) {
  for (size_t i = 0; i < kMetricCount; ++i) {
    const auto metric = static_cast<Metric>(i);
    EXPECT_EQ(metric_from_name(metric_name(metric)), metric);
  }
  EXPECT_EQ(event_from_name("checkpoint"), EventKind::checkpoint);
  EXPECT_FALSE(event_from_name("lunch"));
}

}  // namespace
}  // namespace plateau
