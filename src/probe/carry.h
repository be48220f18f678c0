// SPDX-License-Identifier: Apache-2.0
// What a process owns between two page-table walks.
//
// Question. Owned memory of a tree is the sum of Pss_Anon, and only a page-table walk tells it. A
// walk of 8 GB takes 145 ms, so the budget allows one a minute or so. The cheap figures come every
// tick. What is Pss_Anon now?
//
// Method. After a walk, a process that gains anonymous pages gains them for itself, because a page
// that was just faulted in has one mapper; one that loses pages mostly loses its own. So
//   pss_anon(t) = pss_anon(walk) + anon(t) - anon(walk), kept within 0 and anon(t).
// Before the first walk it depends on where the memory came from. A process that was forked shares
// all of it with its parent: it owns what it gained since, anon(t) - least anon seen, and what it
// has beyond its parent, which it cannot have inherited. A process that executed a program of its
// own started empty: it owns anon(t), and what its own forked children still share is counted at it
// alone. Either way a page is counted once in the tree.
//
// Worked number. A worker is forked from a main with 591 MB: anon 590 MB, owned 0. It decodes 20 MB
// of images: anon 610, owned 20. Now a walk says Pss_Anon 223: 10 MB of the shared were copied on
// write, so 580 MB are still shared with two others, 193 each, and 30 MB are its own. Then it drops
// 5 MB: anon 605, owned 218.
//
// Whoever shares with nobody any more owns all of its anonymous pages, whatever the last walk said:
// when all workers of an epoch have ended, their parent holds alone what it shared with them.
//
// A walk shares a page out among those who were there. When one of them ends, the shares of the
// others no longer add up to it, and those who are forked next have none. From then on until the
// next walk it is counted as before the first one: shared pages at the process that forked the
// others, and at each of these what is known to be its own.
//
// Worked number. A main of 1580 MB forks four readers; a walk says Pss_Anon 316 for each of the
// five. The readers end: the main owns 1580 MB at the next tick, not 316. Four new readers are
// forked for the next epoch: it still owns 1580 MB, and they own nothing.
//
// Blind spot. Copying on write replaces a shared page by an own one: anon stays as it is, and the
// carried figure with it. The next walk shows the whole amount at once. The same holds for an exit
// of another process that shared pages, where nobody is left who forked the others. A snapshot says
// whether it was walked; trends of owned memory are to be judged from walked ones.
//
// File-backed and shared memory are carried likewise, but only after a walk.
#pragma once

#include <cstdint>

#include "probe/proc_files.h"
#include "probe/snapshot.h"

namespace plateau {

// One per process. Feed it every tick's cheap figures, then every walk's.
class Carry {
 public:
  // `forked`: shares its image with the process that forked it, which had `parent_anon_kb` then
  // (kUnread: not known). Forgets all walks: for a new process, and again after an exec.
  void begin(bool forked, int64_t parent_anon_kb = kUnread);

  // No process in sight shares pages with it.
  void set_alone(bool alone) {
    alone_ = alone;
    if (alone) sharer_ended();
  }
  // One of those who were walked with it, and may have shared pages with it, has ended.
  void sharer_ended() { shares_hold_ = false; }
  [[nodiscard]] bool has_walk() const { return has_walk_; }

  // Requires: `sample` holds this tick's cheap figures. Fills in the pss and uss fields.
  void tick(ProcessSample& sample);

  // Requires: tick() was called with the same sample. Overwrites the pss and uss fields.
  void walked(const SmapsRollup& rollup, ProcessSample& sample);

 private:
  [[nodiscard]] int64_t owned_without_shares(int64_t anon_kb) const;

  bool forked_ = false;
  bool alone_ = false;
  int64_t least_anon_kb_ = kUnread;
  bool has_walk_ = false;
  bool shares_hold_ = false;  // Those who were walked with it are all still there.
  SmapsRollup walk_;
  int64_t walk_anon_kb_ = kUnread;
  int64_t walk_file_kb_ = kUnread;
  int64_t walk_shmem_kb_ = kUnread;
};

}  // namespace plateau
