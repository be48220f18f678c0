// SPDX-License-Identifier: Apache-2.0
// For tests: a sample in one expression.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>

#include "recording/row_codec.h"

namespace plateau {

inline Sample sample_at(const Instant& at,
                        std::initializer_list<std::pair<size_t, int64_t>> kb = {},
                        std::initializer_list<std::pair<size_t, double>> gauges = {}) {
  Sample sample{.at = at};
  for (const auto& [column, value] : kb) sample.set_kb(column, value);
  for (const auto& [column, value] : gauges) sample.set_gauge(column, value);
  return sample;
}

}  // namespace plateau
