// SPDX-License-Identifier: Apache-2.0
// What tidy_csv() writes, the CSV reader reads back to the same Run.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>

#include "import/import.h"
#include "recording/tidy_csv.h"

namespace plateau {
namespace {

// Everything of a Run that CSV keeps, in an order that does not depend on columns.
using Cells = std::map<std::tuple<int64_t, std::string, size_t>, double>;

Cells cells_of(const Run& run) {
  Cells cells;
  const auto add = [&](size_t process, const std::string& name, const std::vector<double>& values) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (std::isfinite(values[i])) cells[{run.processes[process].id, name, i}] = values[i];
    }
  };
  for (const Series& series : run.series) {
    add(series.process, std::string(metric_name(series.metric)), series.mb);
  }
  for (const Gauge& gauge : run.gauges) add(gauge.process, "gauge " + gauge.name, gauge.value);
  return cells;
}

bool same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

std::string difference(const Run& a, const Run& b) {
  if (a.instants.size() != b.instants.size()) return "rows";
  for (size_t i = 0; i < a.instants.size(); ++i) {
    const Instant& x = a.instants[i];
    const Instant& y = b.instants[i];
    if (x.step != y.step || !same(x.time_s, y.time_s) || !same(x.epoch, y.epoch)) return "instant";
  }
  if (cells_of(a) != cells_of(b)) return "cells";
  std::map<int64_t, std::tuple<std::string, int64_t, bool>> who;
  for (const Process& process : a.processes) {
    who[process.id] = {process.name, process.parent, process.id_is_pid};
  }
  for (const Process& process : b.processes) {
    if (who[process.id] != std::tuple{process.name, process.parent, process.id_is_pid}) {
      return "process";
    }
  }
  if (a.events.size() != b.events.size()) return "events";
  for (size_t i = 0; i < a.events.size(); ++i) {
    const Event& x = a.events[i];
    const Event& y = b.events[i];
    if (x.instant != y.instant || x.kind != y.kind || x.text != y.text) return "event";
  }
  const auto facts = [](const Fact& x, const Fact& y) { return x.value == y.value; };
  for (const auto field :
       {&Context::examples, &Context::batch, &Context::total_steps, &Context::limit_mb}) {
    if ((a.context.*field).has_value() != (b.context.*field).has_value()) return "fact";
    if (a.context.*field && !facts(*(a.context.*field), *(b.context.*field))) return "fact value";
  }
  return "";
}

double amount() {
  return *rc::gen::inRange(0, 40000000) / 1024.0;
}

std::string word() {
  return *rc::gen::container<std::string>(rc::gen::elementOf(std::string("abcXYZ ,\"'#:-_")));
}

void add_processes(plateau::Run& run) {
  const bool pids = *rc::gen::arbitrary<bool>();
  const int64_t count = *rc::gen::inRange(1, 4);
  for (int64_t id = 0; id < count; ++id) {
    // A name that means "missing" or begins with a blank is not kept; letters in front avoid both.
    run.processes.push_back({.id = id * 7 + 1,
                             .parent = id == 0 ? -1 : 1,
                             .id_is_pid = pids,
                             .name = *rc::gen::arbitrary<bool>() ? "n" + word() + "." : "",
                             .role = {}});
  }
}

plateau::Run arbitrary_run() {
  plateau::Run run;
  add_processes(run);
  const bool steps = *rc::gen::arbitrary<bool>();
  const bool times = !steps || *rc::gen::arbitrary<bool>();
  const bool epochs = *rc::gen::arbitrary<bool>();
  const int64_t rows = *rc::gen::inRange(1, 12);
  int64_t step = *rc::gen::inRange(0, 1000);
  double time = amount();
  for (int64_t i = 0; i < rows; ++i) {
    step += *rc::gen::inRange(1, 50);
    time += 0.001 * static_cast<double>(*rc::gen::inRange(1, 100000));
    run.instants.push_back({.step = steps ? step : -1,
                            .time_s = times ? time : kMissing,
                            .epoch = epochs ? static_cast<double>(i) : kMissing});
  }
  for (size_t process = 0; process < run.processes.size(); ++process) {
    for (size_t number = 0; number < kMetricCount; ++number) {
      const auto metric = static_cast<Metric>(number);
      const bool whole = process == 0 && metric == Metric::rss;
      if (!whole && *rc::gen::arbitrary<bool>()) continue;
      Series series{process, metric, "x", {}};
      for (int64_t i = 0; i < rows; ++i) {
        series.mb.push_back(whole || *rc::gen::arbitrary<bool>() ? amount() : kMissing);
      }
      run.series.push_back(series);
    }
  }
  run.gauges.push_back(
      {"tensors.cpu", 0, std::vector<double>(static_cast<size_t>(rows), amount())});
  if (*rc::gen::arbitrary<bool>()) {
    run.events.push_back({0, EventKind::checkpoint, "checkpoint"});
    run.events.push_back({static_cast<size_t>(rows) - 1, EventKind::mark, "m" + word() + "."});
    run.context.examples = Fact{663, "test"};
    run.context.limit_mb = Fact{amount() + 1, "test"};
  }
  return run;
}

TEST(RoundTrip, AnyRunComesBackFromItsTidyCsv) {
  const bool held = rc::check("tidy_csv then import", [] {
    std::vector<plateau::Run> runs;
    const int count = *rc::gen::inRange(1, 4);
    for (int i = 0; i < count; ++i) {
      runs.push_back(arbitrary_run());
      // One table has one kind of process id.
      for (Process& process : runs.back().processes)
        process.id_is_pid = runs[0].processes[0].id_is_pid;
    }
    const std::string text = tidy_csv(runs);
    const auto back = import_bytes("x", text);
    RC_ASSERT(back.ok());
    RC_ASSERT(back.value().size() == runs.size());
    for (size_t i = 0; i < runs.size(); ++i) {
      const std::string what = difference(runs[i], back.value()[i]);
      if (!what.empty()) RC_LOG() << what << "\n" << text;
      RC_ASSERT(what.empty());
    }
  });
  EXPECT_TRUE(held);
}

TEST(RoundTrip, CorpusTracesComeBack) {
  size_t traces = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(PLATEAU_SOURCE_DIR) + "/corpus/dev")) {
    if (entry.path().extension() != ".gz") continue;
    const auto runs = import_file(entry.path());
    ASSERT_TRUE(runs.ok());
    const auto back = import_bytes("x", tidy_csv(runs.value()));
    ASSERT_TRUE(back.ok()) << back.error().message;
    EXPECT_EQ(difference(runs.value()[0], back.value()[0]), "") << entry.path();
    ++traces;
  }
  EXPECT_EQ(traces, 80u);
}

}  // namespace
}  // namespace plateau
