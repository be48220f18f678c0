// SPDX-License-Identifier: Apache-2.0
// The smallest parts of an answer: the word, the clock it is told by, an interval, the risk.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace plateau {

enum class Word : uint8_t { plateau, warming, leak, undecided };
std::string_view word_name(Word word);  // "plateau", "warming", "leak", "undecided"

enum class Clock : uint8_t { steps, seconds, samples };
std::string_view clock_unit(Clock clock);  // "step", "second", "sample"

struct Interval {
  double low = 0;
  double high = 0;
};

struct Risk {
  // Probability of passing the limit before the run ends. Empty without a limit, and where growth
  // may go on without end and nobody knows when the run ends.
  std::optional<double> oom;
  std::optional<double> at_step;          // Median crossing, if it crosses at all.
  std::optional<Interval> at_step_range;  // 90 %.
  std::optional<double> in_s;             // From the last sample to at_step, at the pace so far.
  std::optional<double> limit_mb;
};

}  // namespace plateau
