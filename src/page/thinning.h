// SPDX-License-Identifier: Apache-2.0
// Which of a long run's samples are drawn, so that no peak and no dip is lost.
//
// Question: a screen is 1,500 dots wide, a run may hold a million samples. Every nth sample would
// lose the one peak that passed the limit; averages would show values that never were.
//
// Method. The instants, in order of the clock, are cut into stretches of equally many. Of each
// stretch two rows are drawn, at its first and at its last clock value, and every line has its own
// lowest and highest value of the stretch in them, in the order in which they came. A stretch in
// which a line has no value leaves a gap of two rows.
//
// Worked case: 1,000,000 samples in 4,000 rows are 2,000 stretches of 500. A line that stays at 50
// and is 320 once, in the middle of a stretch, has rows 50 and 320 there; one that rises from 50 to
// 60 has 50 and 60, one that falls 60 and 50.
//
// Blind spots. Within a stretch, where exactly a value stood is lost: it is drawn at the stretch's
// edge, at most one stretch away. Of several peaks in one stretch one is left. A gap shorter than a
// stretch is bridged, and a line that begins or ends within one is drawn over all of it. Values of
// two lines in one row need not be of one moment, so that stacked lines may stand higher than their
// sum ever was; the line of the sum itself is exact.
//
// Pure. Never invents a value: each is one of those given.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/thinning.h"

namespace plateau {

class Thinning {
 public:
  // `clock` has one finite value per instant, in any order; at most `most` rows, which is at least
  // 2.
  Thinning(std::span<const double> clock, size_t most);

  [[nodiscard]] bool thins() const { return !stretches_.empty(); }
  [[nodiscard]] size_t rows() const { return thins() ? 2 * stretches_.size() : order_.size(); }

  // One value per row: of the row's own instant (the first or last of its stretch).
  [[nodiscard]] std::vector<double> place(std::span<const double> values) const;
  // One value per row: lowest and highest of each stretch. NaN and infinite values are no values.
  [[nodiscard]] std::vector<double> line(std::span<const double> values) const;

 private:
  std::vector<size_t> order_;       // Instants by rising clock.
  std::vector<Stretch> stretches_;  // Of order_; empty: all are drawn.
};

}  // namespace plateau
