// SPDX-License-Identifier: Apache-2.0
// How a recording of any length fits into a bounded number of rows.
//
// A verdict needs the whole run: the start of the growth to tell a warm-up from a leak, and even
// coverage, because it compares stretches of the run with one another. Merging the oldest rows
// again and again would melt the start into a single row. So all old rows stand for equally many
// samples, the stride: when the table is full, rows older than the latest eighth are joined as long
// as together they hold no more than `stride` samples, and if that frees less than a quarter of the
// table the stride is doubled first. The latest eighth stays as it was measured.
//
// Worked case: 4096 rows, one sample a second, a day. Stride 32 then: 2,684 rows of 32 s each and
// the last 512 to 1,400 s second by second.
//
// What a merged row keeps is chosen for a judge of floors: the sample where the tree owned least
// is exact, whole, and at its own time, so is the highest, and means cost little. Merging is
// associative for all of them, so it does not matter in which order rows were joined.
//
// Blind spot: of several spikes within one stride only the highest is left, so spikes that are
// counted are counted low; events keep the number of the sample they belong to and lose nothing.
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "recording/pages.h"
#include "recording/recording_log.h"

namespace plateau {
namespace {

// A span with what its samples own, which is only needed here.
struct Weighed {
  SampleSpan span;
  int64_t low_kb = 0;
  int64_t high_kb = 0;
};

Weighed weigh(SampleSpan span, const std::vector<RecordedColumn>& columns) {
  const int64_t low = owned_kb(span.low(), columns);
  const int64_t high = span.two ? owned_kb(span.high(), columns) : low;
  return {std::move(span), low, high};
}

// A single sample as sums.
Sums sums_of(const Sample& sample) {
  Sums sums;
  sums.total = sample.cells;
  sums.count.assign(sample.present.begin(), sample.present.end());
  return sums;
}

void add(Sums& into, const Sums& more, const std::vector<RecordedColumn>& columns) {
  if (more.count.size() > into.count.size()) {
    into.count.resize(more.count.size());
    into.total.resize(more.count.size());
  }
  for (size_t i = 0; i < more.count.size(); ++i) {
    if (more.count[i] == 0) continue;
    if (into.count[i] == 0) {
      into.total[i] = more.total[i];
    } else if (columns[i].is_gauge) {
      into.total[i] = std::bit_cast<int64_t>(
          add_gauges(std::bit_cast<double>(into.total[i]), std::bit_cast<double>(more.total[i])));
    } else {
      into.total[i] += more.total[i];
    }
    into.count[i] += more.count[i];
  }
}

// Joins two neighbours, `a` before `b`. Of equals the earlier is kept.
Weighed join(Weighed a, const Weighed& b, const std::vector<RecordedColumn>& columns) {
  Weighed both;
  both.span.first_serial = a.span.first_serial;
  both.span.count = a.span.count + b.span.count;
  both.span.sums = a.span.count == 1 ? sums_of(a.span.early) : std::move(a.span.sums);
  add(both.span.sums, b.span.count == 1 ? sums_of(b.span.early) : b.span.sums, columns);

  const Weighed& lowest = b.low_kb < a.low_kb ? b : a;
  const Weighed& highest = b.high_kb > a.high_kb ? b : a;
  both.low_kb = lowest.low_kb;
  both.high_kb = highest.high_kb;
  const Sample& low = lowest.span.low();
  const Sample& high = highest.span.high();
  both.span.two = low.serial != high.serial;
  both.span.low_is_early = low.serial <= high.serial;
  both.span.early = both.span.low_is_early ? low : high;
  if (both.span.two) both.span.late = both.span.low_is_early ? high : low;
  return both;
}

}  // namespace

size_t RecordingLog::rows_after_merge(uint64_t stride, size_t old) const {
  size_t rows = rows_.size() - old;
  uint64_t held = stride;
  for (size_t i = 0; i < old; ++i) {
    if (held + rows_[i].count <= stride) {
      held += rows_[i].count;
    } else {
      held = rows_[i].count;
      ++rows;
    }
  }
  return rows;
}

bool RecordingLog::merge_if_full() {
  if (rows_.size() < head_.max_rows) return false;
  const size_t recent = static_cast<size_t>(head_.max_rows) / 8;
  const size_t old = rows_.size() - recent;
  const size_t wanted = static_cast<size_t>(head_.max_rows - head_.max_rows / 4);
  while (rows_after_merge(head_.stride, old) > wanted && head_.stride < kMaxSpanCount) {
    head_.stride *= 2;
  }
  if (rows_after_merge(head_.stride, old) == rows_.size()) return false;
  merge_old(old);
  return true;
}

void RecordingLog::merge_old(size_t old) {
  std::vector<Row> merged;
  Sample before;  // Of the row in `merged` that comes next.
  Sample read;    // Of the row that is read next.
  uint64_t serial = 0;
  Weighed open;
  bool is_open = false;
  const auto close = [&] {
    if (!is_open) return;
    const SampleSpan& span = open.span;
    merged.push_back({span.count == 1 ? encode_sample(span.early, before, columns_)
                                      : encode_span(span, before, columns_),
                      span.count});
    before = span.last();
    is_open = false;
  };
  for (size_t i = 0; i < rows_.size(); ++i) {
    SampleSpan span;
    if (!decode(rows_[i], read, serial, span)) return;
    serial += rows_[i].count;
    read = span.last();
    const bool joins = is_open && i < old && open.span.count + span.count <= head_.stride;
    if (!joins) close();
    Weighed next = i < old ? weigh(std::move(span), columns_) : Weighed{std::move(span), 0, 0};
    open = joins ? join(std::move(open), next, columns_) : std::move(next);
    is_open = true;
  }
  close();
  rows_ = std::move(merged);
}

int64_t owned_kb(const Sample& sample, const std::vector<RecordedColumn>& columns) {
  using Figures = std::array<double, kMetricCount>;
  std::vector<Figures> of;  // By process.
  Figures none;
  none.fill(kMissing);
  for (size_t i = 0; i < sample.present.size(); ++i) {
    if (sample.present[i] == 0 || columns[i].is_gauge) continue;
    if (columns[i].process >= of.size()) of.resize(columns[i].process + 1, none);
    of[columns[i].process][static_cast<size_t>(columns[i].metric)] =
        static_cast<double>(sample.cells[i]);
  }
  double total = 0;
  for (const Figures& figures : of) {
    add_known(total, amount_of(kOwnedPages, [&figures](Metric metric) {
                return figures[static_cast<size_t>(metric)];
              }));
  }
  return static_cast<int64_t>(total);
}

}  // namespace plateau
