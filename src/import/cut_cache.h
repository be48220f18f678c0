// SPDX-License-Identifier: Apache-2.0
// Cuts lines as a layout does, and remembers how lines of the same shape were cut.
//
// What a layout decides about a line depends on its words and on where digits stand, not on which
// digits they are, except where a time is read: 13:18:25 is one and 73:18:25 is not. So for a line
// whose shape (line_shape.h) was cut before, the places that may hold a time are looked at again,
// and if they hold what they held, only the numbers wanted are read anew. That costs a tenth of
// cutting. A shape is remembered the second time it comes; text that never repeats costs a hash.
//
// The result is the layout's own, cell for cell; cut_cache_test.cc holds it to that.
// Requires: the layout has learned its columns (freeze) and been told what is wanted.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "import/cells.h"

namespace plateau {

class CutCache {
 public:
  // Requires: `layout` outlives it.
  explicit CutCache(LogLayout& layout);

  // As LogLayout::cut(); the cells' texts are valid as long as the line.
  bool cut(std::string_view line, CellRow& row);

 private:
  static constexpr size_t kSlots = 2048;
  static constexpr size_t kMaxLength = 1024;  // Longer lines rarely repeat their shape.

  struct TimePlace {
    size_t at = 0;
    size_t length = 0;  // 0: no time here.
  };
  struct Known {
    std::string line;
    std::string mask;  // digit_mask() of it.
    CellRow row;       // Its texts stand in `line`.
    bool ours = false;
    size_t numbers = 0;
    std::vector<TimePlace> times;
  };
  struct Slot {
    uint64_t hash = 0;
    std::unique_ptr<Known> known;
  };

  bool recall(const Known& known, std::string_view line, CellRow& row) const;
  [[nodiscard]] std::unique_ptr<Known> remember(std::string_view line, const CellRow& row,
                                                bool ours) const;

  LogLayout& layout_;
  std::vector<Slot> slots_;
};

}  // namespace plateau
