// SPDX-License-Identifier: Apache-2.0
#include "recording/row_codec.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "recording/wire.h"

namespace plateau {
namespace {

constexpr uint8_t kHasStep = 1;
constexpr uint8_t kHasEpoch = 2;
constexpr uint8_t kLowIsEarly = 1;
constexpr uint64_t kGaugeAbsent = 0;
constexpr uint64_t kGaugeDouble = 1;
constexpr uint64_t kGaugeHundredths = 2;  // And upwards.
constexpr double kMaxHundredths = 9e15;   // Below 2^53, where doubles count by ones.

double as_gauge(int64_t cell) {
  return std::bit_cast<double>(cell);
}
int64_t as_cell(double gauge) {
  return std::bit_cast<int64_t>(gauge);
}

// `value` in hundredths if it is exactly that many.
bool in_hundredths(double value, int64_t& hundredths) {
  const double scaled = std::round(value * 100);
  if (!(std::fabs(scaled) <= kMaxHundredths)) return false;
  hundredths = static_cast<int64_t>(scaled);
  return scaled / 100 == value;
}
// The nearest such number, a base for differences.
int64_t near_hundredths(double value) {
  const double scaled = std::round(value * 100);
  return std::fabs(scaled) <= kMaxHundredths ? static_cast<int64_t>(scaled) : 0;
}

bool sensible_gauge(double value) {
  return value >= 0 && value <= kMaxGauge;
}

void put(Sample& sample, size_t column, int64_t cell) {
  if (column >= kMaxColumns) return;
  if (column >= sample.cells.size()) {
    sample.cells.resize(column + 1);
    sample.present.resize(column + 1);
  }
  sample.cells[column] = cell;
  sample.present[column] = 1;
}

// Writes a set of columns: bytes of a bitmap, of which only those that are not zero are kept; a
// bitmap over these bytes says which they are.
void put_set(std::string& out, const std::vector<uint32_t>& columns) {
  std::string bytes;
  std::string top;
  size_t byte = SIZE_MAX;
  for (const uint32_t column : columns) {
    if (column / 8 != byte) {
      byte = column / 8;
      top.resize(byte / 8 + 1, '\0');
      top[byte / 8] = static_cast<char>(static_cast<uint8_t>(top[byte / 8]) | (1u << (byte % 8)));
      bytes.push_back('\0');
    }
    bytes.back() = static_cast<char>(static_cast<uint8_t>(bytes.back()) | (1u << (column % 8)));
  }
  put_varint(out, top.size());
  out += top;
  out += bytes;
}

bool take_set(WireReader& in, size_t known, std::vector<uint32_t>& columns) {
  columns.clear();
  const uint64_t size = in.varint();
  if (size > known / 64 + 1) return false;
  const std::string_view top = in.take(static_cast<size_t>(size));
  for (size_t i = 0; i < top.size() * 8; ++i) {
    if ((static_cast<uint8_t>(top[i / 8]) >> (i % 8) & 1) == 0) continue;
    const uint8_t byte = in.byte();
    for (size_t bit = 0; bit < 8; ++bit) {
      if ((byte >> bit & 1) == 0) continue;
      const size_t column = i * 8 + bit;
      if (column >= known) return false;
      columns.push_back(static_cast<uint32_t>(column));
    }
  }
  return in.ok();
}

void put_gauge(std::string& out, double value, int64_t base_hundredths) {
  int64_t hundredths = 0;
  if (in_hundredths(value, hundredths)) {
    const uint64_t apart =
        static_cast<uint64_t>(hundredths) - static_cast<uint64_t>(base_hundredths);
    put_varint(out, kGaugeHundredths + zigzag(static_cast<int64_t>(apart)));
  } else {
    put_varint(out, kGaugeDouble);
    put_double(out, value);
  }
}

// Requires: code is not kGaugeAbsent.
double take_gauge(WireReader& in, uint64_t code, int64_t base_hundredths) {
  if (code == kGaugeDouble) return in.real();
  const auto sum = static_cast<int64_t>(static_cast<uint64_t>(base_hundredths) +
                                        static_cast<uint64_t>(unzigzag(code - kGaugeHundredths)));
  return static_cast<double>(sum) / 100;
}

void put_cell(std::string& out, const Sample& sample, const Sample& before, size_t column,
              bool is_gauge) {
  const bool had = before.has(column);
  if (!sample.has(column)) {
    put_varint(out, 0);
  } else if (is_gauge) {
    put_gauge(out, as_gauge(sample.cells[column]),
              had ? near_hundredths(as_gauge(before.cells[column])) : 0);
  } else {
    put_varint(out, zigzag(sample.cells[column] - (had ? before.cells[column] : 0)));
  }
}

bool take_cell(WireReader& in, Sample& sample, const Sample& before, size_t column, bool is_gauge) {
  const bool had = before.has(column);
  const uint64_t code = in.varint();
  if (!in.ok()) return false;
  if (code == 0 && had) {
    sample.present[column] = 0;
    sample.cells[column] = 0;
    return true;
  }
  if (is_gauge) {
    if (code == kGaugeAbsent) return false;
    const double value =
        take_gauge(in, code, had ? near_hundredths(as_gauge(before.cells[column])) : 0);
    if (!sensible_gauge(value)) return false;
    sample.set_gauge(column, value);
    return true;
  }
  const auto base = static_cast<uint64_t>(had ? before.cells[column] : 0);
  const auto kb = static_cast<int64_t>(base + static_cast<uint64_t>(unzigzag(code)));
  if (kb < 0 || kb > kMaxCellKb) return false;
  sample.set_kb(column, kb);
  return true;
}

void put_sample(std::string& out, const Sample& sample, const Sample& before,
                const std::vector<RecordedColumn>& columns) {
  uint8_t flags = 0;
  if (sample.at.step != before.at.step) flags |= kHasStep;
  if (as_cell(sample.at.epoch) != as_cell(before.at.epoch)) flags |= kHasEpoch;
  out.push_back(static_cast<char>(flags));
  put_varint(out, static_cast<uint64_t>(whole_ms(sample.at.time_s) - whole_ms(before.at.time_s)));
  if ((flags & kHasStep) != 0) {
    put_varint(out, static_cast<uint64_t>(sample.at.step - before.at.step));
  }
  if ((flags & kHasEpoch) != 0) put_double(out, sample.at.epoch);

  std::vector<uint32_t> changed;
  for (size_t i = 0; i < columns.size(); ++i) {
    const bool has = sample.has(i);
    if (has != before.has(i) || (has && sample.cells[i] != before.cells[i])) {
      changed.push_back(static_cast<uint32_t>(i));
    }
  }
  put_set(out, changed);
  for (const uint32_t i : changed) put_cell(out, sample, before, i, columns[i].is_gauge);
}

bool take_sample(WireReader& in, Sample& sample, const Sample& before,
                 const std::vector<RecordedColumn>& columns) {
  const uint64_t serial = sample.serial;
  sample = before;
  sample.serial = serial;
  const uint8_t flags = in.byte();
  if (flags > (kHasStep | kHasEpoch)) return false;
  const uint64_t passed_ms = in.varint();
  const uint64_t steps = (flags & kHasStep) != 0 ? in.varint() : 0;
  if ((flags & kHasEpoch) != 0) sample.at.epoch = in.real();
  const int64_t before_ms = whole_ms(before.at.time_s);
  if (!in.ok() || passed_ms > static_cast<uint64_t>(kMaxTimeMs - before_ms)) return false;
  if (steps > static_cast<uint64_t>(INT64_MAX / 2 - before.at.step)) return false;
  if (std::isinf(sample.at.epoch)) return false;
  sample.at.time_s = static_cast<double>(before_ms + static_cast<int64_t>(passed_ms)) / 1000;
  sample.at.step += static_cast<int64_t>(steps);

  std::vector<uint32_t> changed;
  if (!take_set(in, columns.size(), changed)) return false;
  for (const uint32_t i : changed) {
    if (i >= sample.cells.size()) {
      sample.cells.resize(columns.size());
      sample.present.resize(columns.size());
    }
    if (!take_cell(in, sample, before, i, columns[i].is_gauge)) return false;
  }
  return true;
}

// What a column's count and sum most likely are, from the two samples that are kept; only what
// differs is written. For a span of two samples, and for a column that stood still, it is right.
class Expected {
 public:
  Expected(const SampleSpan& span, const std::vector<RecordedColumn>& columns)
      : span_(span), late_(span.last()), columns_(columns) {}

  [[nodiscard]] uint32_t count(size_t column) const {
    const int kept = int{span_.early.has(column)} + int{late_.has(column)};
    return kept == 2 ? static_cast<uint32_t>(span_.count) : static_cast<uint32_t>(kept);
  }

  // In kB or hundredths. Wraps rather than overflows: both sides wrap alike.
  [[nodiscard]] int64_t sum(size_t column, uint32_t count) const {
    const bool in_early = span_.early.has(column);
    const bool in_late = late_.has(column);
    if (count == 0 || (!in_early && !in_late)) return 0;
    const auto early = static_cast<uint64_t>(value(in_early ? span_.early : late_, column));
    const auto late = static_cast<uint64_t>(value(in_late ? late_ : span_.early, column));
    if (count == 1) return static_cast<int64_t>(early);
    const uint64_t middle = (early + late) / 2;
    return static_cast<int64_t>(early + late + (count - 2) * middle);
  }

 private:
  [[nodiscard]] int64_t value(const Sample& sample, size_t column) const {
    const int64_t cell = sample.cells[column];
    return columns_[column].is_gauge ? near_hundredths(as_gauge(cell)) : cell;
  }

  const SampleSpan& span_;
  const Sample& late_;
  const std::vector<RecordedColumn>& columns_;
};

uint32_t count_in(const Sums& sums, size_t column) {
  return column < sums.count.size() ? sums.count[column] : 0;
}

void put_sums(std::string& out, const SampleSpan& span,
              const std::vector<RecordedColumn>& columns) {
  const Expected expected(span, columns);
  std::vector<uint32_t> counts;
  std::vector<uint32_t> totals;
  for (size_t i = 0; i < columns.size(); ++i) {
    const uint32_t count = count_in(span.sums, i);
    if (count != expected.count(i)) counts.push_back(static_cast<uint32_t>(i));
    if (count == 0) continue;
    const int64_t guess = expected.sum(i, count);
    const int64_t total = span.sums.total[i];
    const bool same =
        columns[i].is_gauge ? as_cell(static_cast<double>(guess) / 100) == total : guess == total;
    if (!same) totals.push_back(static_cast<uint32_t>(i));
  }
  put_set(out, counts);
  for (const uint32_t i : counts) put_varint(out, count_in(span.sums, i));
  put_set(out, totals);
  for (const uint32_t i : totals) {
    const int64_t guess = expected.sum(i, count_in(span.sums, i));
    if (columns[i].is_gauge) {
      put_gauge(out, as_gauge(span.sums.total[i]), guess);
    } else {
      put_varint(out, zigzag(span.sums.total[i] - guess));
    }
  }
}

bool take_total(WireReader& in, SampleSpan& span, size_t column, int64_t guess, bool is_gauge) {
  const uint32_t count = span.sums.count[column];
  const uint64_t code = in.varint();
  if (!in.ok() || count == 0) return false;
  if (is_gauge) {
    if (code == kGaugeAbsent) return false;
    span.sums.total[column] = as_cell(take_gauge(in, code, guess));
    return in.ok();
  }
  span.sums.total[column] =
      static_cast<int64_t>(static_cast<uint64_t>(guess) + static_cast<uint64_t>(unzigzag(code)));
  return true;
}

bool take_sums(WireReader& in, SampleSpan& span, const std::vector<RecordedColumn>& columns) {
  const Expected expected(span, columns);
  span.sums.total.assign(columns.size(), 0);
  span.sums.count.assign(columns.size(), 0);
  for (size_t i = 0; i < columns.size(); ++i) span.sums.count[i] = expected.count(i);
  std::vector<uint32_t> named;
  if (!take_set(in, columns.size(), named)) return false;
  for (const uint32_t i : named) {
    const uint64_t count = in.varint();
    if (count > span.count) return false;
    span.sums.count[i] = static_cast<uint32_t>(count);
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    const int64_t guess = expected.sum(i, span.sums.count[i]);
    span.sums.total[i] = columns[i].is_gauge ? as_cell(static_cast<double>(guess) / 100) : guess;
  }
  if (!take_set(in, columns.size(), named)) return false;
  for (const uint32_t i : named) {
    const int64_t guess = expected.sum(i, span.sums.count[i]);
    if (!take_total(in, span, i, guess, columns[i].is_gauge)) return false;
  }
  // A sum that no samples could have would overflow in later merging.
  for (size_t i = 0; i < columns.size(); ++i) {
    const int64_t total = span.sums.total[i];
    const uint32_t count = span.sums.count[i];
    const bool fits = columns[i].is_gauge
                          ? as_gauge(total) >= 0 && as_gauge(total) <= kMaxGauge * 2.0 * count
                          : total >= 0 && total <= kMaxCellKb * static_cast<int64_t>(count);
    if (!fits) return false;
  }
  return true;
}

bool take_single(WireReader& in, const Sample& before, const std::vector<RecordedColumn>& columns,
                 SampleSpan& span) {
  span.count = 1;
  span.two = false;
  span.low_is_early = true;
  span.early.serial = span.first_serial;
  span.sums.total.clear();
  span.sums.count.clear();
  return take_sample(in, span.early, before, columns);
}

bool take_span(WireReader& in, const Sample& before, const std::vector<RecordedColumn>& columns,
               SampleSpan& span) {
  span.count = in.varint();
  const uint64_t early = in.varint();
  const uint64_t apart = in.varint();
  const uint8_t flags = in.byte();
  if (!in.ok() || span.count < 2 || span.count > kMaxSpanCount || flags > kLowIsEarly) return false;
  if (early >= span.count || apart >= span.count - early) return false;
  span.two = apart > 0;
  span.low_is_early = (flags & kLowIsEarly) != 0;
  span.early.serial = span.first_serial + early;
  if (!take_sample(in, span.early, before, columns)) return false;
  if (span.two) {
    span.late.serial = span.early.serial + apart;
    if (!take_sample(in, span.late, span.early, columns)) return false;
  }
  return take_sums(in, span, columns);
}

}  // namespace

void Sample::set_kb(size_t column, int64_t kb) {
  if (kb >= 0 && kb <= kMaxCellKb) put(*this, column, kb);
}

void Sample::set_gauge(size_t column, double value) {
  if (sensible_gauge(value)) put(*this, column, as_cell(value + 0.0));  // Minus zero is zero.
}

int64_t whole_ms(double seconds) {
  const double ms = std::round(seconds * 1000);
  return ms > 0 ? static_cast<int64_t>(std::min(ms, static_cast<double>(kMaxTimeMs))) : 0;
}

double mean_of(const SampleSpan& span, size_t column, const std::vector<RecordedColumn>& columns) {
  const bool is_gauge = columns[column].is_gauge;
  const auto value = [is_gauge](int64_t cell) {
    return is_gauge ? as_gauge(cell) : static_cast<double>(cell);
  };
  if (span.count == 1) return span.early.has(column) ? value(span.early.cells[column]) : kMissing;
  const uint32_t count = count_in(span.sums, column);
  return count > 0 ? value(span.sums.total[column]) / count : kMissing;
}

double add_gauges(double a, double b) {
  int64_t first = 0;
  int64_t second = 0;
  if (!in_hundredths(a, first) || !in_hundredths(b, second)) return a + b;
  return static_cast<double>(first + second) / 100;
}

std::string encode_sample(const Sample& sample, const Sample& before,
                          const std::vector<RecordedColumn>& columns) {
  std::string out;
  put_sample(out, sample, before, columns);
  return out;
}

std::string encode_span(const SampleSpan& span, const Sample& before,
                        const std::vector<RecordedColumn>& columns) {
  std::string out;
  put_varint(out, span.count);
  put_varint(out, span.early.serial - span.first_serial);
  put_varint(out, span.two ? span.late.serial - span.early.serial : 0);
  out.push_back(static_cast<char>(span.low_is_early ? kLowIsEarly : 0));
  put_sample(out, span.early, before, columns);
  if (span.two) put_sample(out, span.late, span.early, columns);
  put_sums(out, span, columns);
  return out;
}

bool decode_row(std::string_view bytes, bool is_span, const Sample& before, uint64_t serial,
                const std::vector<RecordedColumn>& columns, SampleSpan& span) {
  WireReader in(bytes);
  span.first_serial = serial;
  const bool fits =
      is_span ? take_span(in, before, columns, span) : take_single(in, before, columns, span);
  return fits && in.ok() && in.at_end();
}

}  // namespace plateau
