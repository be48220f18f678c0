// SPDX-License-Identifier: Apache-2.0
// Which examples share a row (--packing).
//
// Short examples leave most of a batch unused: a row may be max_seq_length tokens long, and a
// typical example has a tenth of that. Packed, a row is filled with several whole examples. Which
// of them share a row is decided once, before the first epoch: every epoch has the same number of
// rows, in an order of its own, and a run can be resumed at any batch.
//
// Best fit, longest first: each example goes into the row that it fills most, or opens a new one.
// Worked case: rows of 10 for 6, 5, 4, 3, 2: (6 4) (5 3 2). Never more than 11/9 of the fewest rows
// that are possible, and one. Examples of the same length are taken in an order that the seed
// gives, so that neighbours in the file do not share a row for being neighbours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace plateau::train {

// Every example is in exactly one row. 16 bytes an example at most.
struct Packs {
  std::vector<size_t> examples;  // Row after row.
  std::vector<size_t> bounds;    // First of each row in `examples`; the last is the end.

  [[nodiscard]] size_t rows() const { return bounds.empty() ? 0 : bounds.size() - 1; }
  // Requires: row < rows().
  [[nodiscard]] std::span<const size_t> row(size_t row) const {
    return std::span(examples).subspan(bounds[row], bounds[row + 1] - bounds[row]);
  }
};

// `tokens` of every example; 0: a bad one, which takes no room and is left to whoever reads it. One
// with more than `most` tokens has a row to itself.
Packs make_packs(const std::vector<int64_t>& tokens, int64_t most, uint64_t seed);

}  // namespace plateau::train
