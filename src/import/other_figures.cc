// SPDX-License-Identifier: Apache-2.0
// Which columns beside the chosen one could be the memory instead. They decide nothing, but an
// all-clear waits for them (answer/other_figures.h): better one too few than a counter that grows
// by its nature, so whatever says that it is no level of memory in use is left out.
#include <algorithm>
#include <cmath>

#include "import/reading_parts.h"

namespace plateau {
namespace {

constexpr size_t kMostOthers = 4;
constexpr double kLoudAsRss = 9;  // Of SlotName::loudest: what a process has of the machine.

double last_mb(const SheetColumn& column, const MemoryColumn& memory) {
  return column.mb(column.values.size() - 1, memory.bare_mb);
}

// An amount in every line under a name that says nothing against it, "GC Total: 65 MB". What has no
// word for memory may be one, unless it goes on by the same each time, as counters do.
bool is_amount(const SheetColumn& column) {
  if (column.with_unit < column.values.size() || column.values.size() < kFewest) return false;
  const double step = column.values[1] - column.values[0];
  for (size_t i = 2; i < column.values.size(); ++i) {
    if (std::abs(column.values[i] - column.values[i - 1] - step) > 1e-9 * column.values[i]) {
      return true;
    }
  }
  return false;
}

bool could_be_memory(const Sheet& sheet, const SheetColumn& main, uint32_t at) {
  const SheetColumn& other = sheet.columns[at];
  const SlotName& name = other.name;
  if (&other == &main || other.title.empty() || other.title == main.title) return false;
  if (!name.memory && !is_amount(other)) return false;
  const bool as_often = other.values.size() * 10 >= main.values.size() * 9 &&
                        main.values.size() * 10 >= other.values.size() * 9;
  if (!as_often || other.arrows > 0 || other.texts > 0) return false;
  // What is taken in all is called total too, but never stands still; a total of allocations only
  // counts.
  const bool capacity = name.total && (name.memory || other.values.front() == other.values.back());
  if (name.free || name.peak || capacity || name.limit || name.cache || name.swap) return false;
  if (name.change || name.is_virtual || name.percent || other.percents > 0) return false;
  // Another program's growth is no news about a process.
  if (name.machine && !main.name.machine) return false;
  return memory_weight(sheet, at) >= kEnough;
}

}  // namespace

void choose_others(const Sheet& sheet, Reading& reading) {
  if (reading.series != SeriesBy::nothing || reading.pair != PairTakes::all) return;
  const MemoryColumn& main = reading.memory.front();
  const SheetColumn& chosen = sheet.columns[main.column];
  for (uint32_t i = 0; i < sheet.columns.size() && reading.others.size() < kMostOthers; ++i) {
    const bool known = std::any_of(reading.memory.begin(), reading.memory.end(),
                                   [i](const MemoryColumn& memory) { return memory.column == i; });
    if (known || !could_be_memory(sheet, chosen, i)) continue;
    const SheetColumn& column = sheet.columns[i];
    if (column.values == chosen.values) continue;
    MemoryColumn other = memory_column(sheet, i, {}, nullptr);
    // What grows beyond the resident memory of its process counts something else: what was ever
    // allocated, or what is mapped.
    const bool resident = chosen.name.loudest >= kLoudAsRss && !chosen.name.gpu;
    if (resident && last_mb(column, other) > last_mb(chosen, main)) continue;
    reading.others.push_back(std::move(other));
  }
}

}  // namespace plateau
