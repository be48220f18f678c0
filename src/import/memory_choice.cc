// SPDX-License-Identifier: Apache-2.0
// Which of all columns is the memory: the heaviest one that comes regularly, or the one that the
// user named; among columns without names, what tools print side by side decides.
#include <algorithm>
#include <cmath>

#include "base/pattern.h"
#include "base/text.h"
#include "import/reading_parts.h"
#include "import/unit_evidence.h"

namespace plateau {
namespace {

constexpr size_t kFewestUnsure = 6;  // Readings where it is not plain that it is memory.
constexpr double kRival = 1;         // Weight from which a figure without a name could be memory.
// Behind a collector's prefix stands what its program wrote: of two readings that are nearly as
// good that is the one to trust, which a mixture of several figures outweighs by its mere number.
constexpr double kOpened = 0.5;
constexpr double kAsGood = 0.8;  // Weight by which columns without names may differ.

bool wished(const SheetColumn& column, const std::string& wish) {
  if (equal_ignoring_case(trim(column.title), wish)) return true;
  if (plain_words(column.title) == plain_words(wish) && !plain_words(wish).empty()) return true;
  const std::optional<Pattern> pattern = Pattern::of(wish, Pattern::Letters::any_case);
  return pattern && pattern->is_in(column.title);
}

// The same to the last digit in many readings, beside amounts that are not: what is read as memory
// there would be an all-clear whatever the others do.
bool stands_among_others(const Sheet& sheet, const SheetColumn& column) {
  constexpr size_t kMany = 20;
  const auto moves = [](const SheetColumn& some) {
    return some.values.size() >= kMany &&
           std::any_of(some.values.begin(), some.values.end(),
                       [&some](double value) { return value != some.values.front(); });
  };
  if (column.values.size() < kMany || moves(column)) return false;
  for (uint32_t i = 0; i < sheet.columns.size(); ++i) {
    const SheetColumn& other = sheet.columns[i];
    const bool amount = other.name.memory || other.with_unit > 0 || other.decimals > 0;
    // A loss or a temperature moves too, and is no rival.
    if (amount && moves(other) && memory_weight(sheet, i) >= kRival) return true;
  }
  return false;
}

// Prose has numbers too: without a word, a unit or a page nothing says memory, and what is no plain
// case must come again and again.
bool is_regular(const Sheet& sheet, const SheetColumn& column, double weight, size_t lines) {
  const bool evidence = column.name.memory || column.name.free || column.name.used ||
                        column.with_unit * 2 > column.values.size() || column.name.unit_mb > 0 ||
                        unit_by_pages(column.values).mb > 0;
  if (!evidence) return false;
  // Pages and blocks of a heap are as good as a unit that is written.
  const bool plain = column.name.memory && (column.with_unit > 0 || column.name.unit_mb > 0 ||
                                            unit_by_pages(column.values).mb > 0);
  const size_t n = column.values.size();
  if (!plain && stands_among_others(sheet, column)) return false;
  if (plain && weight >= kSure) return n * 200 >= lines;
  return n >= kFewestUnsure && n * 12 >= lines;
}

// In MB where units are written: collectors count generations in K and the whole in M.
double mean_mb(const SheetColumn& column) {
  double sum = 0;
  for (size_t i = 0; i < column.values.size(); ++i) sum += column.mb(i, 1);
  return sum / static_cast<double>(column.values.size());
}

// No other number stands in its lines.
bool is_alone(const Sheet& sheet, uint32_t column) {
  for (uint32_t i = 0; i < sheet.columns.size(); ++i) {
    if (i != column && sheet.columns[i].values.size() * 2 > sheet.columns[column].values.size()) {
      return false;
    }
  }
  return true;
}

bool is_nameless(const SheetColumn& column) {
  return !column.name.memory && column.name.weight == 0;
}

}  // namespace

std::optional<ChosenColumn> choose_memory(const std::vector<Sheet>& sheets,
                                          const ReadingWishes& wishes, size_t lines) {
  std::optional<ChosenColumn> best;
  for (size_t s = 0; s < sheets.size(); ++s) {
    for (uint32_t c = 0; c < sheets[s].columns.size(); ++c) {
      const SheetColumn& column = sheets[s].columns[c];
      if (column.values.size() < kFewest) continue;
      double weight = memory_weight(sheets[s], c) + (sheets[s].opened ? kOpened : 0);
      if (!wishes.memory.empty()) {
        if (!wished(column, wishes.memory)) continue;
        weight += 100;
      }
      // Whoever says the unit of figures without a name says that they are memory.
      const bool told = wishes.unit_mb > 0 && is_alone(sheets[s], c) && is_nameless(column) &&
                        column.values.size() * 2 > lines && column.other_units == 0;
      if (weight < kEnough && !told) continue;
      if (wishes.memory.empty() && !told && !is_regular(sheets[s], column, weight, lines)) continue;
      if (!best || weight > best->weight) best = ChosenColumn{s, c, weight};
    }
  }
  return best;
}

void settle_nameless(const std::vector<Sheet>& sheets, ChosenColumn& chosen) {
  const Sheet& sheet = sheets[chosen.sheet];
  if (!is_nameless(sheet.columns[chosen.column])) return;
  const auto moves = [&sheet](uint32_t i) {
    const auto [least, most] =
        std::minmax_element(sheet.columns[i].values.begin(), sheet.columns[i].values.end());
    return *least < *most;
  };
  std::vector<std::pair<double, uint32_t>> moving;
  moving.reserve(sheet.columns.size());
  for (uint32_t i = 0; i < sheet.columns.size(); ++i) {
    const SheetColumn& column = sheet.columns[i];
    const double weight = memory_weight(sheet, i);
    const bool rival = column.values.size() >= kFewest && is_nameless(column) &&
                       (column.arrows > 0) == (sheet.columns[chosen.column].arrows > 0);
    if (rival && weight >= kEnough && weight > chosen.weight - 2 * kAsGood && moves(i)) {
      moving.emplace_back(weight, i);
    }
  }
  if (moving.empty()) return;
  const auto smaller = [&sheet](uint32_t a, uint32_t b) {
    return mean_mb(sheet.columns[a]) < mean_mb(sheet.columns[b]);
  };
  const double best = std::max_element(moving.begin(), moving.end())->first;
  std::vector<uint32_t> rivals;
  rivals.reserve(moving.size());
  for (const auto& [weight, i] : moving) {
    if (weight > best - kAsGood) rivals.push_back(i);
  }
  const bool arrows = sheet.columns[rivals.front()].arrows > 0;
  if (rivals.size() > 3 && !arrows) {
    // "VSS RSS PSS USS" of procrank: each smaller than the one before.
    const bool falling = std::is_sorted(rivals.rbegin(), rivals.rend(), smaller);
    chosen.column = rivals[rivals.size() == 4 && falling ? 1 : 0];
    return;
  }
  if (rivals.size() == 3 && !arrows) {
    chosen.column = rivals[1];
    return;
  }
  chosen.column = arrows ? *std::max_element(rivals.begin(), rivals.end(), smaller)
                         : *std::min_element(rivals.begin(), rivals.end(), smaller);
}

}  // namespace plateau
