// SPDX-License-Identifier: Apache-2.0
#include "import/log_clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

bool LineEpoch::read(const LineFacts& line) {
  const bool named = std::isfinite(line.epoch);
  fractions_ = fractions_ || (named && !line.whole_epoch);
  const bool begins = named && line.whole_epoch && whole_ >= 0 && line.epoch > whole_;
  if (named && line.whole_epoch) whole_ = line.epoch;
  of_line_ = line.epoch;
  if (!named && !fractions_ && whole_ >= 0) of_line_ = whole_;
  return begins;
}

void Unroller::wrap(int64_t length, int64_t epochs) {
  offset_ += length * epochs;
  epoch_length_ = length;
  wrapped_ = true;
}

int64_t Unroller::unroll(int64_t position, int64_t total, double epoch) {
  wrapped_ = false;
  const bool back = position < last_;
  const bool next_epoch = epoch > last_epoch_ && last_epoch_ >= 0;
  if (back && next_epoch) {
    const int64_t length = total > 0 ? total : last_;
    const double epochs = total > 0 ? epoch - last_epoch_ : 1;
    if (epochs < 1e6 && length < (1LL << 40)) wrap(length, static_cast<int64_t>(epochs));
  } else if (back && back_ == Back::same_run) {
    // Mostly it starts again with an epoch: a bar at its total, other counts where they were.
    if (total > 0 && last_ >= total - 1) {
      wrap(total, 1);
    } else {
      offset_ += last_;
    }
  } else if (back && epoch >= 0) {
    offset_ = 0;
  }
  if (epoch >= 0) last_epoch_ = epoch;
  last_ = position;
  return offset_ + position;
}

std::optional<std::pair<FactField, double>> Unroller::fact(int64_t total, bool of_epoch) const {
  if (wrapped_) return std::pair(&Context::epoch_steps, static_cast<double>(epoch_length_));
  if (total <= 0) return std::nullopt;
  const FactField field =
      epoch_length_ > 0 || of_epoch ? &Context::epoch_steps : &Context::total_steps;
  return std::pair(field, static_cast<double>(total));
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
