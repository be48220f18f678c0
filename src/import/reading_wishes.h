// SPDX-License-Identifier: Apache-2.0
// What a user may say about a log that its text does not.
#pragma once

#include <string>

namespace plateau {

// Empty and 0 say nothing.
struct ReadingWishes {
  std::string memory;  // A name or a regular expression of the column's title.
  std::string clock;   // "none": number the readings.
  std::string series;  // "none": one series.
  double unit_mb = 0;

  [[nodiscard]] bool any() const {
    return !memory.empty() || !clock.empty() || !series.empty() || unit_mb > 0;
  }
};

}  // namespace plateau
