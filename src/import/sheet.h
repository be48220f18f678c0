// SPDX-License-Identifier: Apache-2.0
// The head of a log as a sheet: what its columns hold, learned from some thousand lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "import/cells.h"
#include "import/slot_name.h"

namespace plateau {

struct SheetColumn {
  std::string title;  // The words beside it or above it; empty if it has none.
  SlotName name;

  // The numeric cells in file order: the row each stands in, what it says, and its written unit.
  std::vector<uint32_t> rows;
  std::vector<double> values;
  std::vector<double> unit_mb;  // 0 where none is written.
  std::vector<double> limits_mb;
  std::vector<uint64_t> variants;  // See LogCell,
  uint64_t family = 0;             // also for this,
  size_t ordinal = 0;              // and this.
  double unit_before_mb = 0;       // In brackets earlier in each of its lines; 0: none.

  size_t times = 0;      // Cells that are times,
  size_t texts = 0;      // and cells of other text,
  std::string text;      // the first of which says this,
  bool one_text = true;  // and all others the same.
  size_t percents = 0;
  size_t other_units = 0;  // Rates and times: no memory.
  size_t signs = 0;
  size_t glued = 0;
  size_t arrows = 0;  // Later ones of a chain.
  size_t with_unit = 0;
  uint8_t decimals = 0;
  std::vector<uint64_t> labels;  // Of every cell, numeric or not: a hash of its text, and
  std::vector<uint32_t> label_rows;

  // In MB where a unit is written, else `bare_mb` each.
  [[nodiscard]] double mb(size_t i, double bare_mb) const {
    return values[i] * (unit_mb[i] > 0 ? unit_mb[i] : bare_mb);
  }
};

struct SheetRow {
  uint32_t line = 0;
  uint32_t block = 0;   // Times the header had come before it.
  bool filled = false;  // It has cells, and not only a time.
  bool has_time = false;
  Stamp time;
  uint64_t prefix = 0;  // A hash; 0 if there is none.
};

struct Sheet {
  std::unique_ptr<LogLayout> layout;
  std::vector<SheetColumn> columns;  // By their number in the layout.
  std::vector<SheetRow> rows;
  size_t blocks = 0;
  bool opened = false;    // Read behind what a collector writes; see envelope.h.
  double page_bytes = 0;  // Said in a line above: "(page size of 16384 bytes)"; 0: not.
};

// Reads `lines` with `layout`. Lines marked in `taken` are passed over.
Sheet read_sheet(std::unique_ptr<LogLayout> layout, const std::vector<std::string_view>& lines,
                 const std::vector<bool>& taken);

// sheet_company.cc: names columns that are known by the columns beside them.
void name_by_company(Sheet& sheet);

// In the same rows, as in a table or in a line that names several.
bool stand_together(const SheetColumn& a, const SheetColumn& b);

// Equally often, one after the other in lines of their own.
bool alternate(const SheetColumn& a, const SheetColumn& b);

// The same, under names that differ only in words
// that say nothing of memory.
bool come_in_turn(const SheetColumn& a, const SheetColumn& b);

uint64_t hash_text(std::string_view text);

}  // namespace plateau
