// SPDX-License-Identifier: Apache-2.0
// Sums the sites of a track into fewer: stacks that a reader takes for the same place are one.
//
// Merged before judging, not after: ten sites that each grow by less than matters may together be
// the leak.
#pragma once

#include <cstdint>
#include <vector>

#include "recording/heap_track.h"

namespace plateau {

inline constexpr uint32_t kLeftOut = UINT32_MAX;

// `group` has one entry per site of `track`: the index of the merged site, from 0 on without gaps,
// or kLeftOut. A merged site has the stack and kind of its largest member. Its peak is that of the
// rows that are left, so peaks between them may be missed. What is left out is in no row.
HeapTrack merge_sites(const HeapTrack& track, const std::vector<uint32_t>& group);

}  // namespace plateau
