// SPDX-License-Identifier: Apache-2.0
// Makes scanning fast by remembering lines of the same shape.
//
// Logs repeat themselves: most lines differ from an earlier one only in their digits
// (line_shape.h). What scan_line() decides about such lines is the same wherever a decision looked
// only at the shape (ScannedLine::by_shape); then only the numbers it took are read anew. Comparing
// shapes is some twenty times cheaper than scanning.
//
// The result is the same as scan_line()'s, line for line; scan_cache_test.cc holds it to that.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "import/line_shape.h"
#include "import/text_scan.h"

namespace plateau {

class ScanCache {
 public:
  // What the line holds; valid until the next call.
  const ScannedLine& scan(std::string_view line);

 private:
  static constexpr size_t kSlots = 64;
  static constexpr size_t kMaxLength = 512;  // Longer lines rarely repeat their shape.

  struct Known {
    std::string line;
    std::string mask;  // digit_mask() of it.
    ScannedLine result;
    bool filled = false;
  };

  static bool refresh(std::string_view line, ScannedLine& out);

  std::array<Known, kSlots> known_;
  ScannedLine fresh_;  // For lines that are not remembered.
};

}  // namespace plateau
