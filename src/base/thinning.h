// SPDX-License-Identifier: Apache-2.0
// Fewer points for many, by the two rules that this program has.
//
// What is drawn keeps the lowest and the highest of each stretch, so that no spike is lost however
// long the run. What is kept while a run goes on halves itself whenever it is full: what stays is
// where a stride twice as long would have put it, so the result does not depend on when it filled.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace plateau {

// Drops the 2nd, 4th, 6th ...
template <typename T>
void keep_every_second(std::vector<T>& values) {
  size_t kept = 0;
  for (size_t i = 0; i < values.size(); i += 2, ++kept) {
    if (kept != i) values[kept] = std::move(values[i]);
  }
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(kept), values.end());
}

struct Stretch {
  size_t begin = 0;
  size_t end = 0;
};

// The s-th of `stretches` that share `count` points as evenly as whole points allow.
inline Stretch nth_stretch(size_t count, size_t stretches, size_t s) {
  return {count * s / stretches, count * (s + 1) / stretches};
}

struct Extremes {
  size_t lowest = 0;   // The first of equals,
  size_t highest = 0;  // the last of equals: no order is made up.
};

// Where in the stretch the finite value(i) are lowest and highest; nullopt if none is finite.
template <typename Value>
std::optional<Extremes> extremes_in(Stretch stretch, Value value) {
  std::optional<Extremes> found;
  for (size_t i = stretch.begin; i < stretch.end; ++i) {
    const double here = value(i);
    if (!std::isfinite(here)) continue;
    if (!found) found = Extremes{i, i};
    if (here < value(found->lowest)) found->lowest = i;
    if (here >= value(found->highest)) found->highest = i;
  }
  return found;
}

}  // namespace plateau
