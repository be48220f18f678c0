// SPDX-License-Identifier: Apache-2.0
// Which rows of a long log are kept when there is no room for all of them.
//
// Question. A log of ten million rows is judged by its floors and drawn with its peaks, and memory
// has room for a fraction of it. Which rows may go?
//
// Method. Of every `group` rows in succession two stay: that with the least memory and that with
// the most, summed over its columns. Rows are compared with their like only: where ranks write in
// turn, each row has another rank's column, and of the rows 1, 2, 3, 4, 1, 2, … every second would
// be of two ranks alone. So rows that begin with the same column are counted by themselves.
//
// Worked case. 5, 9, 1, 6, 7, 7, 7, 7 by four: 9, 1, and the first and last of the sevens.
//
// Blind spot. Of rows that begin with the same column and differ in the others, the sum decides: a
// peak of one rank may hide behind a fall of another.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace plateau {

// Row numbers, ascending: all below `from`, the last of `rows`, and the extremes of every `group`
// rows between. Where that would hardly save anything, because no rows are alike, every second.
// `columns` hold memory by row, NaN where nothing was read, and may be shorter than `rows`.
std::vector<size_t> rows_to_keep(std::span<const std::vector<double>* const> columns, size_t from,
                                 size_t rows, size_t group);

// Drops all others. What is shorter keeps what it has of them.
template <typename T>
void keep_rows(std::vector<T>& values, std::span<const size_t> rows) {
  size_t kept = 0;
  for (; kept < rows.size() && rows[kept] < values.size(); ++kept) {
    values[kept] = values[rows[kept]];
  }
  values.resize(kept);
}

}  // namespace plateau
