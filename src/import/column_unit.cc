// SPDX-License-Identifier: Apache-2.0
// The unit of a column that names none, from whatever the file gives away: the title, pages, the
// columns beside it, its size.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "import/reading_parts.h"

namespace plateau {
namespace {

// A microcontroller's heap in bytes; as many MB no process has.
constexpr double kLeastHeapBytes = 2e4;
constexpr double kLoudAsHeap = 7;  // Of SlotName::loudest: "allocated" and the like.

// Runtimes count these in bytes, and not in pages.
bool names_a_heap(std::string_view title) {
  const std::string words = plain_words(title);
  for (std::string_view rest = words; !rest.empty();) {
    if (lists("heap gc malloc psram shmem", " ", take_part(rest, ' '))) return true;
  }
  return false;
}

// The same figure stands beside it with its unit: "used_memory:1541928 … used_memory_human:1.47M".
UnitFound unit_by_twin(const Sheet& sheet, const SheetColumn& column) {
  static constexpr std::pair<double, std::string_view> kUnits[] = {
      {1e-6, "bytes"}, {kKernelKbInMb, "KiB"}, {1, "MB"}, {1.048576, "MiB"}};
  for (const SheetColumn& other : sheet.columns) {
    const size_t n = column.values.size();
    if (&other == &column || other.values.size() != n || other.with_unit < n || n < kFewest)
      continue;
    for (const auto& [mb, name] : kUnits) {
      bool same = stand_together(column, other);
      for (size_t i = 0; i < n && same; ++i) {
        const double rounding =
            other.unit_mb[i] * std::pow(10, -static_cast<double>(other.decimals));
        const double off = std::abs(column.values[i] * mb - other.mb(i, 1));
        same = column.values[i] > 0 && off <= rounding && off <= 0.01 * other.mb(i, 1);
      }
      if (same) return {mb, name, "as the same figure beside it says", true};
    }
  }
  return {};
}

// A unit by which the total beside the figure would be that of no machine is another one: with 64
// MB in all none runs Linux, whose pages these would be, and none but a microcontroller has 16 MB.
UnitFound of_a_machine(const Sheet& sheet, const SheetColumn& column, UnitFound unit) {
  constexpr double kLeastOfLinux = 131072;  // KiB,
  constexpr double kMostOfABoard = 1.6e7;   // and bytes,
  constexpr double kLeastInBytes = 5e8;     // of which Linux has more.
  if (!is_table_of_free(sheet, column)) return unit;
  double total = 0;
  for (const SheetColumn& other : sheet.columns) {
    if (!other.name.total || other.with_unit > 0 || other.values.empty() ||
        !stand_together(other, column))
      continue;
    total = std::max(total, *std::max_element(other.values.begin(), other.values.end()));
  }
  if (total <= 0) return unit;
  if (unit.mb == kKernelKbInMb && total < kLeastOfLinux) {
    return {1e-6, "bytes", "no machine has so few KiB in all", false};
  }
  if (unit.mb == 1e-6 && total > kMostOfABoard && total < kLeastInBytes) {
    return {kKernelKbInMb, "KiB", "no machine has so few bytes in all", false};
  }
  return unit;
}

}  // namespace

bool counts_a_heap(const Sheet& sheet, const SheetColumn& column) {
  if (names_a_heap(column.title)) return true;
  if (column.name.loudest > kLoudAsHeap || !column.name.memory) return false;
  return std::any_of(sheet.columns.begin(), sheet.columns.end(), [&column](const auto& other) {
    return names_a_heap(other.title) && other.decimals == 0 && other.with_unit == 0 &&
           other.values.size() * 10 >= column.values.size() * 9;
  });
}

UnitFound find_unit(const Sheet& sheet, const SheetColumn& column) {
  if (column.with_unit > 0 && column.with_unit < column.values.size() &&
      column.with_unit * 20 > column.values.size()) {
    return {1024 / 1e6, "KiB", "as top writes what it does not abbreviate", true};
  }
  if (column.with_unit > 0) return {1, "as written", "", true};
  if (column.name.unit_mb == kWordMb) {
    return {kWordMb, "words of 8 bytes", "as runtimes of 64 bits count", true};
  }
  if (column.name.unit_mb > 0) return {column.name.unit_mb, "as named", "", true};
  if (sheet.page_bytes > 0 && column.decimals == 0) {
    return {sheet.page_bytes / 1e6, "pages", "whose size the log says", true};
  }
  if (const UnitFound twin = unit_by_twin(sheet, column); twin.mb > 0) return twin;
  const bool heap = counts_a_heap(sheet, column);
  if (!heap) {
    const UnitFound pages = unit_by_pages(column.values);
    if (pages.mb > 0) return of_a_machine(sheet, column, pages);
  }
  for (const SheetColumn& other : sheet.columns) {
    const bool beside = !other.rows.empty() && !column.rows.empty() &&
                        other.rows.size() * 10 >= column.rows.size() * 9 && &other != &column;
    if (!beside || !other.name.memory || other.with_unit > 0 || is_wall_clock(other)) continue;
    if (UnitFound pages = unit_by_pages(other.values); pages.mb > 0) {
      pages.why = "as a column beside it shows by its pages";
      return pages;
    }
  }
  if (heap && column.decimals == 0 &&
      *std::max_element(column.values.begin(), column.values.end()) >= kLeastHeapBytes) {
    return {1e-6, "bytes", "as runtimes count their heaps", false};
  }
  return unit_by_size(column.values, is_table_of_free(sheet, column) || column.name.machine);
}

}  // namespace plateau
