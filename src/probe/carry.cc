// SPDX-License-Identifier: Apache-2.0
#include "probe/carry.h"

#include <algorithm>

namespace plateau {
namespace {

// What was `at_walk` moves with its cheap figure and stays within it.
int64_t carried(int64_t at_walk, int64_t cheap_then, int64_t cheap_now) {
  if (at_walk == kUnread || cheap_then == kUnread || cheap_now == kUnread) return at_walk;
  return std::clamp<int64_t>(at_walk + (cheap_now - cheap_then), 0, cheap_now);
}

}  // namespace

void Carry::begin(bool forked, int64_t parent_anon_kb) {
  *this = Carry();
  forked_ = forked;
  least_anon_kb_ = parent_anon_kb;
}

void Carry::tick(ProcessSample& sample) {
  const int64_t anon = sample.anon_kb;
  if (anon == kUnread) return;
  least_anon_kb_ = least_anon_kb_ == kUnread ? anon : std::min(least_anon_kb_, anon);
  if (alone_) {
    sample.pss_anon_kb = anon;
  } else if (!shares_hold_ || walk_.pss_anon_kb == kUnread) {
    sample.pss_anon_kb = owned_without_shares(anon);
  } else {
    sample.pss_anon_kb = carried(walk_.pss_anon_kb, walk_anon_kb_, anon);
  }
  if (!has_walk_) return;
  sample.pss_file_kb = carried(walk_.pss_file_kb, walk_file_kb_, sample.file_kb);
  sample.pss_shmem_kb = carried(walk_.pss_shmem_kb, walk_shmem_kb_, sample.shmem_kb);
  if (walk_.pss_anon_kb == kUnread || walk_.pss_file_kb == kUnread ||
      walk_.pss_shmem_kb == kUnread) {
    sample.pss_kb = carried(walk_.pss_kb, walk_anon_kb_, anon);
  } else {
    sample.pss_kb = sample.pss_anon_kb + sample.pss_file_kb + sample.pss_shmem_kb;
  }
  if (walk_.uss_kb != kUnread && sample.pss_kb != kUnread && walk_anon_kb_ != kUnread) {
    // Pages gained or lost since the walk are private ones.
    sample.uss_kb = std::clamp<int64_t>(walk_.uss_kb + (anon - walk_anon_kb_), 0, sample.pss_kb);
    if (alone_) sample.uss_kb = std::max(sample.uss_kb, anon);
  }
}

int64_t Carry::owned_without_shares(int64_t anon_kb) const {
  if (!forked_) return anon_kb;
  int64_t own = anon_kb - least_anon_kb_;
  if (has_walk_ && walk_.uss_kb != kUnread && walk_.pss_anon_kb != kUnread) {
    const int64_t own_then = std::min(walk_.uss_kb, walk_.pss_anon_kb);
    own = std::max(own, carried(own_then, walk_anon_kb_, anon_kb));
  }
  return own;
}

void Carry::walked(const SmapsRollup& rollup, ProcessSample& sample) {
  has_walk_ = shares_hold_ = true;
  walk_ = rollup;
  walk_anon_kb_ = sample.anon_kb;
  walk_file_kb_ = sample.file_kb;
  walk_shmem_kb_ = sample.shmem_kb;
  sample.pss_kb = rollup.pss_kb;
  if (rollup.pss_anon_kb != kUnread) sample.pss_anon_kb = rollup.pss_anon_kb;
  sample.pss_file_kb = rollup.pss_file_kb;
  sample.pss_shmem_kb = rollup.pss_shmem_kb;
  sample.uss_kb = rollup.uss_kb;
}

}  // namespace plateau
