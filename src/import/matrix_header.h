// SPDX-License-Identifier: Apache-2.0
// Recognises tables of named rows; see matrix_cells.cc.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace plateau {

// "Native Heap 40004 39870": words, then nothing but numbers. No numbers: it is no such row.
struct MatrixRow {
  std::string_view name;
  std::vector<std::string_view> numbers;
};
MatrixRow matrix_row(std::string_view line);

// The names of the columns under that header, the rows' own aside.
std::vector<std::string> matrix_names(std::string_view header);

// Whether the line at `at` has a name for every number, but none for the names, of rows below it.
bool heads_a_matrix(const std::vector<std::string_view>& lines, size_t at);

}  // namespace plateau
