// SPDX-License-Identifier: Apache-2.0
// What a merged row keeps, against sums done the long way.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <bit>
#include <cmath>

#include "recording/recording_log.h"

namespace plateau {
namespace {

struct Given {
  std::vector<Sample> samples;
  std::vector<int64_t> owned_kb;
};

// A log of two processes: anon and swap of the first, rss of the second, a gauge.
RecordingLog log_of_four_columns(size_t max_rows) {
  RecordingLog log(HeadRecord{.head = {}, .max_rows = max_rows, .stride = 1});
  log.put_process({.index = 0, .pid = 1, .start_ticks = 0, .process = {.id = 1}});
  log.put_process({.index = 1, .pid = 2, .start_ticks = 0, .process = {.id = 2}});
  log.put_column({.process = 0, .is_gauge = false, .metric = Metric::anon, .name = ""});
  log.put_column({.process = 0, .is_gauge = false, .metric = Metric::swap, .name = ""});
  log.put_column({.process = 1, .is_gauge = false, .metric = Metric::rss, .name = ""});
  log.put_column({.process = 1, .is_gauge = true, .metric = Metric::memory, .name = "cpu"});
  return log;
}

Given fill(RecordingLog& log, int count) {
  Given given;
  for (int i = 0; i < count; ++i) {
    Sample sample;
    sample.serial = static_cast<uint64_t>(i);
    sample.at.time_s = i;
    sample.at.step = i / 3;
    int64_t owned = 0;
    for (size_t column = 0; column < 3; ++column) {
      if (*rc::gen::inRange(0, 6) == 0) continue;
      const int64_t kb = *rc::gen::inRange(0, 100000);
      sample.set_kb(column, kb);
      // Swap counts beside resident pages, not alone.
      if (column != 1 || sample.has(0)) owned += kb;
    }
    if (*rc::gen::inRange(0, 4) > 0) {
      sample.set_gauge(3, *rc::gen::inRange(0, 1000) / 100.0);
    }
    RC_ASSERT(
        log.put_row(RecordType::sample, encode_sample(sample, log.last(), log.columns())).empty());
    log.merge_if_full();
    given.samples.push_back(sample);
    given.owned_kb.push_back(owned);
  }
  return given;
}

void check_row(const SampleSpan& span, const Given& given,
               const std::vector<RecordedColumn>& columns) {
  const auto begin = given.owned_kb.begin() + static_cast<std::ptrdiff_t>(span.first_serial);
  const auto end = begin + static_cast<std::ptrdiff_t>(span.count);
  const auto low = static_cast<size_t>(std::min_element(begin, end) - given.owned_kb.begin());
  const auto high = static_cast<size_t>(std::max_element(begin, end) - given.owned_kb.begin());
  RC_ASSERT(span.low().serial == low);
  RC_ASSERT(span.high().serial == high);
  for (const size_t at : {low, high}) {
    const Sample& kept = at == low ? span.low() : span.high();
    RC_ASSERT(kept.at.time_s == given.samples[at].at.time_s);
    RC_ASSERT(kept.at.step == given.samples[at].at.step);
    for (size_t i = 0; i < columns.size(); ++i) {
      RC_ASSERT(kept.has(i) == given.samples[at].has(i));
      if (kept.has(i)) RC_ASSERT(kept.cells[i] == given.samples[at].cells[i]);
    }
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    double sum = 0;
    double count = 0;
    for (size_t at = span.first_serial; at < span.first_serial + span.count; ++at) {
      const Sample& sample = given.samples[at];
      if (!sample.has(i)) continue;
      sum += columns[i].is_gauge ? std::bit_cast<double>(sample.cells[i])
                                 : static_cast<double>(sample.cells[i]);
      ++count;
    }
    const double mean = mean_of(span, i, columns);
    const bool right =
        count > 0 ? std::fabs(mean - sum / count) < 1e-9 * (1 + mean) : std::isnan(mean);
    RC_ASSERT(right);
  }
}

TEST(RecordingMerge, KeepsTheLeastTheMostAndTheMeanOfEveryColumn) {
  const bool holds = rc::check([] {
    RecordingLog log = log_of_four_columns(*rc::gen::inRange<size_t>(8, 24));
    const Given given = fill(log, *rc::gen::inRange(1, 200));
    uint64_t samples = 0;
    log.each_row([&](const SampleSpan& span) {
      RC_ASSERT(span.first_serial == samples);
      samples += span.count;
      check_row(span, given, log.columns());
    });
    RC_ASSERT(samples == given.samples.size());
    RC_ASSERT(log.rows() < log.head().max_rows);
  });
  EXPECT_TRUE(holds);
}

TEST(RecordingMerge, OldRowsStandForEquallyManySamplesAndTheLatestStaySingle) {
  RecordingLog log = log_of_four_columns(64);
  for (int i = 0; i < 10000; ++i) {
    Sample sample = log.last();
    sample.at.time_s = i;
    sample.set_kb(0, i % 7);
    log.put_row(RecordType::sample, encode_sample(sample, log.last(), log.columns()));
    log.merge_if_full();
  }
  std::vector<uint64_t> counts;
  log.each_row([&](const SampleSpan& span) { counts.push_back(span.count); });
  const uint64_t stride = log.head().stride;
  ASSERT_GT(counts.size(), 10000 / stride);
  // All but the group that is being filled, and the rows after it.
  for (size_t i = 0; i + 1 < (10000 - 64) / stride; ++i) EXPECT_EQ(counts[i], stride) << i;
  for (size_t i = counts.size() - 8; i < counts.size(); ++i) EXPECT_EQ(counts[i], 1u) << i;
}

TEST(RecordingMerge, EventStaysAtTheFirstKeptSampleAfterIt) {
  RecordingLog log = log_of_four_columns(8);
  for (int i = 0; i < 200; ++i) {
    if (i == 60) {
      log.put_event({.serial = log.samples(), .time_s = 0, .kind = EventKind::eval, .text = ""});
    }
    Sample sample = log.last();
    sample.at.time_s = i;
    sample.set_kb(0, 100 + i);
    log.put_row(RecordType::sample, encode_sample(sample, log.last(), log.columns()));
    log.merge_if_full();
  }
  const plateau::Run run = log.to_run();
  ASSERT_EQ(run.events.size(), 1u);
  const size_t at = run.events[0].instant;
  EXPECT_GE(run.instants[at].time_s, 60);
  EXPECT_LT(run.instants[at - 1].time_s, 60);
}

}  // namespace
}  // namespace plateau
