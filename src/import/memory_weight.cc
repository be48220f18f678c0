// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "base/statistics.h"
#include "base/text.h"
#include "import/reading_parts.h"
#include "import/unit_evidence.h"

namespace plateau {
namespace {

constexpr double kTableOfFree = 7;
// The lines above a table of processes speak of the whole machine, in words as loud and in figures
// as smooth: more than smoothness gives, which rows of several processes in turn do not have.
constexpr double kBesidePid = 2;
// More than a word for a total or a cache takes: either is likelier than what never moves.
constexpr double kStandsStill = 5;
constexpr double kPairOfACollector = 3;  // "80M->8M", whatever the line says.

// 1 for a course that goes on from where it was, 0 for one that jumps about: how much smaller the
// steps are than they would be if the same figures came in any order.
double smoothness(const std::vector<double>& values) {
  if (values.size() < 4) return 0;
  double sum = 0;
  double squares = 0;
  double steps = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    sum += values[i];
    squares += values[i] * values[i];
    if (i > 0) steps += (values[i] - values[i - 1]) * (values[i] - values[i - 1]);
  }
  const auto n = static_cast<double>(values.size());
  const double spread = squares / n - (sum / n) * (sum / n);
  if (!(spread > 1e-12 * squares / n)) return 1;
  return 1 - std::min(1.0, steps / (2 * n * spread));
}

// Amounts that no memory takes in turn: each far from the last ones, as the sizes of requests are.
// Memory goes on from where it was, or about a level; of several things in turn each does, so every
// second to eighth is looked at too.
bool is_erratic(const SheetColumn& column) {
  constexpr size_t kFewestOfIt = 8;
  constexpr size_t kMostInTurn = 8;
  constexpr double kFarApart = 3;
  constexpr double kGoesOn = 0.5;
  const std::vector<double>& values = column.values;
  if (column.arrows > 0 || values.size() < kFewestOfIt) return false;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  if (*most <= kFarApart * std::max(0.0, *least)) return false;
  if (smoothness(values) >= kGoesOn) return false;
  for (size_t turns = 2; turns <= std::min(kMostInTurn, values.size() / 4); ++turns) {
    std::vector<double> sorted_by_turn;
    sorted_by_turn.reserve(values.size());
    for (size_t from = 0; from < turns; ++from) {
      for (size_t i = from; i < values.size(); i += turns) sorted_by_turn.push_back(values[i]);
    }
    if (smoothness(sorted_by_turn) >= kGoesOn) return false;
  }
  return true;
}

// The same in every line, to the last digit: a size rather than a use, if there is another.
bool never_moves(const SheetColumn& column) {
  constexpr size_t kFewestLevel = 10;
  return column.values.size() >= kFewestLevel &&
         std::all_of(column.values.begin(), column.values.end(),
                     [&column](double value) { return value == column.values.front(); });
}

// In as many readings another figure that is named as memory goes up and down.
bool another_moves(const Sheet& sheet, const SheetColumn& column) {
  return std::any_of(sheet.columns.begin(), sheet.columns.end(), [&column](const auto& other) {
    return other.name.memory && other.values.size() * 10 >= column.values.size() * 9 &&
           !never_moves(other);
  });
}

// Nothing but zeros: what this counts is not in use here, whatever it is called.
bool is_dead(const SheetColumn& column) {
  return std::all_of(column.values.begin(), column.values.end(),
                     [](double value) { return value == 0; });
}

// Goes on by the same each time, and nothing says what it is: it counts. So does what goes on by
// one from about 0, whatever its name ("[mem] loop 7"): no memory does.
bool is_counter(const SheetColumn& column) {
  constexpr size_t kFewestSteps = 5;
  constexpr double kFarthestStart = 100;  // Steps from 0; memory begins at no such place.
  const std::vector<double>& values = column.values;
  if (column.name.unit_mb > 0 || column.with_unit > 0 || values.size() <= kFewestSteps)
    return false;
  const double step = values[1] - values[0];
  if ((column.name.memory || column.name.free) && step != 1) return false;
  for (size_t i = 2; i < values.size(); ++i) {
    if (values[i] - values[i - 1] != step) return false;
  }
  // What goes down by the same each time counts what is left to do.
  if (step < 0) return true;
  return step > 0 && values.front() >= 0 && values.front() <= kFarthestStart * step;
}

// In a table of processes: a row for each, which its id begins.
bool stands_beside_pid(const Sheet& sheet, const SheetColumn& column) {
  if (!column.name.memory) return false;
  return std::any_of(sheet.columns.begin(), sheet.columns.end(), [&column](const SheetColumn& id) {
    return &id != &column && equal_ignoring_case(trim(id.title), "pid") &&
           id.rows.size() * 10 >= column.rows.size() * 9 && stand_together(id, column);
  });
}

}  // namespace

bool is_wall_clock(const SheetColumn& column) {
  // Two thousand million bytes look like it too; but what a name says of memory is the first
  // number behind it, and a time may follow: "web1.memory.rss 730814000 1794992400".
  if (column.with_unit > 0 || (column.name.memory && column.ordinal == 0)) return false;
  size_t back = 0;
  for (size_t i = 0; i < column.values.size(); ++i) {
    if (!epoch_seconds(column.values[i]) || column.values[i] < 1e9) return false;
    back += i > 0 && column.values[i] < column.values[i - 1] ? 1 : 0;
  }
  return back * 10 < column.values.size();
}

bool is_table_of_free(const Sheet& sheet, const SheetColumn& column) {
  if (column.name.memory || (!column.name.used && !column.name.free)) return false;
  bool total = false;
  bool used = false;
  bool free = false;
  bool cache = false;
  for (const SheetColumn& other : sheet.columns) {
    if (other.rows.size() * 10 < column.rows.size() * 9 || !stand_together(other, column)) continue;
    total |= other.name.total;
    used |= other.name.used;
    free |= other.name.free;
    cache |= other.name.cache;
  }
  return free && (total || used || cache);
}

double memory_weight(const Sheet& sheet, uint32_t at) {
  const SheetColumn& column = sheet.columns[at];
  const size_t n = column.values.size();
  if (n == 0 || is_dead(column)) return -100;
  const auto share = [n](size_t count) {
    return static_cast<double>(count) / static_cast<double>(n);
  };
  double weight = column.name.weight + (is_table_of_free(sheet, column) ? kTableOfFree : 0);
  if (column.name.clock != SlotName::Clock::none && share(column.with_unit) < 0.5) weight -= 8;
  weight += 4 * share(column.with_unit);
  if (column.with_unit == 0 && column.name.unit_mb > 0) weight += 2;
  if (column.with_unit == 0 && column.name.unit_mb == 0 && unit_by_pages(column.values).mb > 0) {
    weight += column.title.empty() || column.title.starts_with("column ") ? 2.5 : 1;
  }
  weight -= 12 * share(column.other_units);
  if (column.percents > 0 && !column.name.percent) weight -= 5 * share(column.percents);
  const bool negative = std::any_of(column.values.begin(), column.values.end(),
                                    [](double value) { return value < 0; });
  if ((share(column.signs) > 0.5 || negative) && !column.name.change) weight -= 8;
  weight -= 10 * share(column.glued);
  // "Raw Mem: 803.06 = 932.07 - 129.01": the first number behind a name is the one it names.
  if (column.name.memory) weight -= 0.5 * std::min(2.0, static_cast<double>(column.ordinal));
  if (stands_beside_pid(sheet, column)) weight += kBesidePid;
  if (is_wall_clock(column)) weight -= 12;
  if (is_counter(column)) weight -= 8;
  if (!column.name.memory && !column.name.free && is_erratic(column)) weight -= 8;
  if (never_moves(column)) weight -= another_moves(sheet, column) ? kStandsStill : 2;
  // Text in a column of numbers: another kind of line.
  if (column.texts > n) weight -= 4;
  if (column.arrows > 0) weight += column.title.empty() ? kPairOfACollector : 1;
  // Before and after, in turn, are not one course.
  weight += 1.5 * (column.arrows > 0 ? 1 : smoothness(column.values));
  weight += 0.9 * std::log10(static_cast<double>(n));
  return weight;
}

}  // namespace plateau
