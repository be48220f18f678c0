// SPDX-License-Identifier: Apache-2.0
// A heap profile on a terminal: as a list of sites, by function, as a tree of calls.
#pragma once

#include <cstddef>
#include <string>

#include "profile/profile.h"
#include "report/text.h"

namespace plateau {

struct ListLooks {
  size_t top = 10;
  bool all = false;   // Also what does not grow.
  bool full = false;  // Whole stacks.
};
std::string render_profile(const HeapProfile& profile, const View& view, const ListLooks& looks);
// The first line alone.
std::string render_profile_line(const HeapProfile& profile, const View& view);

// By function: what its own calls hold and what is held below it. Requires: made by stack.
std::string render_flat(const HeapProfile& profile, const View& view, size_t top);
// What was alive at the moment of the most. Requires: made with at_peak.
std::string render_peak(const HeapProfile& profile, const View& view, size_t top);
// Which sites make blocks that are given back within the step, or second, in which they are made.
std::string render_temporary(const HeapProfile& profile, const View& view, size_t top);
// The callers and callees of the innermost function that `wanted` is found in, with what is alive
// below them. Requires: made by stack.
std::string render_around(const HeapProfile& profile, const View& view, const Pattern& wanted,
                          size_t top);
// The call tree, outermost call first, or innermost first. Requires: made by stack.
std::string render_tree(const HeapProfile& profile, const View& view, bool inverted);

}  // namespace plateau
