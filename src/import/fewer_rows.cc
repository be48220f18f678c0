// SPDX-License-Identifier: Apache-2.0
#include "import/fewer_rows.h"

#include <algorithm>
#include <cmath>

namespace plateau {
namespace {

// A row among those that may go: its first column, and its memory in all.
struct Total {
  size_t first = 0;
  double mb = 0;
};

std::vector<Total> totals_of(std::span<const std::vector<double>* const> columns, size_t from,
                             size_t rows) {
  std::vector<Total> totals(rows - from, {.first = columns.size(), .mb = 0});
  for (size_t column = 0; column < columns.size(); ++column) {
    const std::vector<double>& mb = *columns[column];
    for (size_t row = from; row < std::min(rows, mb.size()); ++row) {
      if (!std::isfinite(mb[row])) continue;
      Total& total = totals[row - from];
      total.first = std::min(total.first, column);
      total.mb += mb[row];
    }
  }
  return totals;
}

// The rows of one kind that were met since two of them were kept.
struct Group {
  size_t count = 0;
  size_t lowest = 0;   // The first of equals,
  size_t highest = 0;  // the last of equals.
};

}  // namespace

std::vector<size_t> rows_to_keep(std::span<const std::vector<double>* const> columns, size_t from,
                                 size_t rows, size_t group) {
  const std::vector<Total> totals = totals_of(columns, from, rows);
  std::vector<Group> groups(columns.size() + 1);
  std::vector<bool> keep(totals.size(), false);
  const auto settle = [&keep](Group& done) {
    if (done.count > 0) keep[done.lowest] = keep[done.highest] = true;
    done.count = 0;
  };
  for (size_t i = 0; i < totals.size(); ++i) {
    Group& like = groups[totals[i].first];
    if (like.count == 0 || totals[i].mb < totals[like.lowest].mb) like.lowest = i;
    if (like.count == 0 || totals[i].mb >= totals[like.highest].mb) like.highest = i;
    if (++like.count >= group) settle(like);
  }
  for (Group& rest : groups) settle(rest);
  const auto kept = static_cast<size_t>(std::count(keep.begin(), keep.end(), true));
  if (kept > totals.size() - totals.size() / 4) {
    for (size_t i = 0; i < keep.size(); ++i) keep[i] = i % 2 == 0;
  }
  if (!keep.empty()) keep.back() = true;
  std::vector<size_t> result(from);
  for (size_t row = 0; row < from; ++row) result[row] = row;
  for (size_t i = 0; i < keep.size(); ++i) {
    if (keep[i]) result.push_back(from + i);
  }
  return result;
}

}  // namespace plateau
