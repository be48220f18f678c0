// SPDX-License-Identifier: Apache-2.0
// Who holds what grew while `plateau prove` ran: the job's Python objects are looked at when its
// blocks begin and again when enough is known, before it is ended.
//
// The process that trains is looked at and up to kMostChildren of its children, because a cache of
// the dataset is in the workers. Each look stops a process for at most two seconds; the job is
// ours, and its blocks are measured in memory, not in time. It waits for us meanwhile: what we have
// heard and looked at stands in a file of memory that it can open (heard_path()). What the
// experiment itself keeps (index batches to serve again) is left out.
//
// Blind spot: workers that are forked anew with each pass are gone at the second look.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/fd.h"
#include "census/holders.h"
#include "recording/holder.h"

namespace plateau {

class ProveHolders {
 public:
  static constexpr size_t kMostChildren = 4;
  static constexpr double kMostStopS = 2;

  ProveHolders();
  // Where the job reads the number of the last state that was heard; empty if there is none.
  [[nodiscard]] std::string heard_path() const;
  void heard(int64_t step);

  // The blocks of `pid` begin, after so many steps.
  void begin(int64_t pid, int64_t step);
  [[nodiscard]] bool begun() const { return !before_.empty() || !trouble_.empty(); }
  // Enough is known; the job still lives. Only the first call looks.
  void end(int64_t step);

  // Of the process whose containers grew most; no holders if nothing was seen to.
  [[nodiscard]] const HolderGrowth& growth() const { return growth_; }
  [[nodiscard]] const std::string& trouble() const { return trouble_; }  // Why it was not looked.

 private:
  Fd heard_;
  std::map<int64_t, HolderIndex> before_;  // By pid.
  HolderGrowth growth_;
  std::string trouble_;
  bool ended_ = false;
};

}  // namespace plateau
