// SPDX-License-Identifier: Apache-2.0
// Rows of a recording, and their bytes.
//
// A row is one sample of all columns, or a span: several neighbouring samples merged into one row
// that keeps two of them whole, the one where the tree owned least and the one where it owned most,
// and the sum of every column over all of them. Bytes are written against the sample before, so
// that only what changed costs anything. docs/formats/recording.md has the bytes.
//
// A cell is an int64: kB for a memory column, for a gauge the bits of its double. Plain data; the
// functions are pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recording/run.h"

namespace plateau {

inline constexpr int64_t kMaxCellKb = int64_t{1} << 37;       // 128 TiB: beyond it, not a reading.
inline constexpr double kMaxGauge = 1e15;                     // Also what a gauge can be.
inline constexpr uint64_t kMaxSpanCount = uint64_t{1} << 25;  // So that sums fit into 62 bits.
inline constexpr int64_t kMaxTimeMs = int64_t{1} << 50;       // 35,000 years.
inline constexpr size_t kMaxColumns = size_t{1} << 18;

struct RecordedColumn {
  size_t process = 0;
  bool is_gauge = false;
  Metric metric = Metric::memory;  // Of a memory column.
  std::string name;                // Of a gauge.
};

// One sample of all columns. `cells` and `present` are as long as the columns known when it was
// taken; a column past the end is absent.
struct Sample {
  uint64_t serial = 0;  // Its number among all samples ever taken; a writer gives it.
  // Seconds count from the start of the recording and are whole milliseconds once written. Step and
  // epoch are the last ones known.
  Instant at = {.time_s = 0};
  std::vector<int64_t> cells = {};
  std::vector<uint8_t> present = {};

  [[nodiscard]] bool has(size_t column) const {
    return column < present.size() && present[column] != 0;
  }
  // A value that cannot be (below zero, beyond what there is) is none.
  void set_kb(size_t column, int64_t kb);
  void set_gauge(size_t column, double value);
};

// Sums of every column over the samples of a span that had a value there.
struct Sums {
  std::vector<int64_t> total;  // A cell: kB, or the bits of a double.
  std::vector<uint32_t> count;
};

struct SampleSpan {
  uint64_t first_serial = 0;
  uint64_t count = 1;
  Sample early;              // The earlier of the two kept samples; the only one if !two.
  Sample late;               // The later one; empty if !two.
  bool two = false;          // Are there two, or was the least also the most?
  bool low_is_early = true;  // Which of the two is the least.
  Sums sums;                 // Empty for a single sample.

  [[nodiscard]] const Sample& last() const { return two ? late : early; }
  [[nodiscard]] const Sample& low() const { return two && !low_is_early ? late : early; }
  [[nodiscard]] const Sample& high() const { return two && low_is_early ? late : early; }
};

// Files count milliseconds; nonsense becomes 0.
int64_t whole_ms(double seconds);

// Mean of `column` over the span, in kB or the gauge's unit; NaN if no sample had a value.
double mean_of(const SampleSpan& span, size_t column, const std::vector<RecordedColumn>& columns);

// a + b for sums of gauges. Hundredths stay hundredths, so that sums of a clock that ticks in
// hundredths are exact and short.
double add_gauges(double a, double b);

// What the tree owned at `sample` (recording/pages.h), in kB.
int64_t owned_kb(const Sample& sample, const std::vector<RecordedColumn>& columns);

// Payloads. `before` is the last sample of the row before (an empty one at the start).
std::string encode_sample(const Sample& sample, const Sample& before,
                          const std::vector<RecordedColumn>& columns);
std::string encode_span(const SampleSpan& span, const Sample& before,
                        const std::vector<RecordedColumn>& columns);

// False if the bytes are not a row that could follow. The span's first serial is `serial`.
bool decode_row(std::string_view bytes, bool is_span, const Sample& before, uint64_t serial,
                const std::vector<RecordedColumn>& columns, SampleSpan& span);

}  // namespace plateau
