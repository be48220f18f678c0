// SPDX-License-Identifier: Apache-2.0
#include "import/log_clock.h"

#include <fmt/format.h>

#include <algorithm>

namespace plateau {
namespace {

constexpr size_t kMaxBars = 8;
constexpr size_t kMinNumbered = 5;

// The samples that speak for a clock. A row may still be open, so one more than the builder counts.
size_t rows_of(const LogClock& clock) {
  const size_t rows = clock.builder.samples() + 1;
  if (clock.kind != LogClockKind::none) return rows;
  return clock.placed || rows >= kMinNumbered ? 1 : 0;
}

}  // namespace

int64_t Unroller::unroll(int64_t position, int64_t total, double epoch) {
  wrapped_ = false;
  if (epoch >= 0) {
    if (epoch > last_epoch_ && last_epoch_ >= 0 && position < last_) {
      const int64_t length = total > 0 ? total : last_;
      const double epochs = total > 0 ? epoch - last_epoch_ : 1;
      if (epochs < 1e6 && length < (1LL << 40)) {
        offset_ += length * static_cast<int64_t>(epochs);
        epoch_length_ = length;
        wrapped_ = true;
      }
    } else if (position < last_) {
      offset_ = 0;
    }
    last_epoch_ = epoch;
  }
  last_ = position;
  return offset_ + position;
}

LogClock::LogClock(LogClockKind clock_kind, int64_t bar_total)
    : kind(clock_kind), total(bar_total), builder("text log") {
  columns.fill(RunBuilder::kNone);
  gauges.fill(RunBuilder::kNone);
}

LogClock& LogClocks::of(LogClockKind kind, int64_t total) {
  size_t bars = 0;
  for (const auto& clock : clocks_) {
    if (clock->kind == kind && clock->total == total) return *clock;
    bars += clock->kind == LogClockKind::bar ? 1 : 0;
  }
  if (kind == LogClockKind::bar && bars >= kMaxBars) return of(LogClockKind::none, 0);
  clocks_.push_back(std::make_unique<LogClock>(kind, total));
  LogClock& clock = *clocks_.back();
  for (const FactKind& fact : kFacts) {
    const std::optional<Fact>& stated = stated_.*fact.field;
    if (stated) clock.builder.fact(fact.field, stated->value, stated->source);
  }
  return clock;
}

void LogClocks::event(EventKind kind, std::string_view text) {
  for (const auto& clock : clocks_) clock->builder.event(kind, text);
}

void LogClocks::fact(FactField field, double value, size_t line) {
  stated_.*field = Fact{value, fmt::format("line {}", line)};
  for (const auto& clock : clocks_) clock->builder.fact_at_line(field, value, line);
}

LogClock* LogClocks::best() {
  size_t most = 0;
  for (const auto& clock : clocks_) most = std::max(most, rows_of(*clock));
  LogClock* best = nullptr;
  for (const auto& clock : clocks_) {
    const size_t rows = rows_of(*clock);
    if (rows == 0 || rows * 4 < most) continue;
    const bool better = best == nullptr || clock->kind < best->kind ||
                        (clock->kind == best->kind && rows > rows_of(*best));
    if (better) best = clock.get();
  }
  return best;
}

}  // namespace plateau
