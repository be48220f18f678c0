// SPDX-License-Identifier: Apache-2.0
// The decisions behind learn_reading(), each in a file of its own. Inside this room only.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "import/reading.h"
#include "import/sheet.h"

namespace plateau {

inline constexpr double kEnough = 3.5;  // Of weight, to be taken for memory at all.
inline constexpr double kSure = 8;      // Of weight: nobody doubts.
inline constexpr size_t kFewest = 3;    // Readings; fewer are no course.

struct ChosenColumn {
  size_t sheet = 0;
  uint32_t column = 0;
  double weight = 0;
};

// sheet_layouts.cc: the ways in which these lines could be cut, each read.
std::vector<Sheet> read_sheets(const std::vector<std::string_view>& lines,
                               const NumberStyle& style);

// memory_weight.cc: how much the column looks like memory in use; see reading.h.
double memory_weight(const Sheet& sheet, uint32_t column);
// Seconds since 1970 that go on: no memory, whatever its size.
bool is_wall_clock(const SheetColumn& column);
// total, used, free, cache beside each other: the table of `free`, which is the machine's.
bool is_table_of_free(const Sheet& sheet, const SheetColumn& column);

// memory_choice.cc: the column that is the memory, if any is; `lines` were looked at in all.
std::optional<ChosenColumn> choose_memory(const std::vector<Sheet>& sheets,
                                          const ReadingWishes& wishes, size_t lines);
// Columns without names that look as good as the chosen one are told apart by what tools print:
// "VSZ RSS" (the smaller), "VIRT RES SHR" (the middle), "used total" (the one that moves), "young
// heap" of collectors (the larger).
void settle_nameless(const std::vector<Sheet>& sheets, ChosenColumn& chosen);

// other_figures.cc: the columns of Reading::others. Requires: everything else is chosen.
void choose_others(const Sheet& sheet, Reading& reading);

// column_unit.cc: any unit that the file itself gives away: written on most, named in the title,
// that of the same figure beside it, shown by pages, or that of a column beside it; else by size.
UnitFound find_unit(const Sheet& sheet, const SheetColumn& column);
// Its own name says heap, or "allocated" stands beside what does.
bool counts_a_heap(const Sheet& sheet, const SheetColumn& column);

// reading.cc: the column as memory, with its unit; remarks on it where there is a reading for them.
MemoryColumn memory_column(const Sheet& sheet, uint32_t at, const ReadingWishes& wishes,
                           Reading* remark_to);

// series_choice.cc: whose memory it is. Fills Reading::series…
void choose_series(const Sheet& sheet, uint32_t memory, const ReadingWishes& wishes,
                   Reading& reading);
// The length of the path through the figures with these labels, by that without: below kSmoother
// they tell several courses apart.
inline constexpr double kSmoother = 0.55;
double smoothing(const std::vector<double>& mb, const std::vector<uint64_t>& labels);
// The label of each of the column's readings under that choice; empty if there is none.
std::vector<uint64_t> labels_of(const Sheet& sheet, uint32_t memory, const Reading& reading);

// clock_choice.cc: what rises with it. Fills step_column, time_column, stamps, round_s.
// Requires: choose_series() came first.
void choose_clock(const Sheet& sheet, uint32_t memory, const ReadingWishes& wishes,
                  Reading& reading);

}  // namespace plateau
