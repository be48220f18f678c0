// SPDX-License-Identifier: Apache-2.0
// The memory cgroup of a process: usage, its parts, the limit that binds, kills.
//
// Works on version 2, version 1 and the mixed layout, found by looking: the memory controller's own
// line in /proc/PID/cgroup names version 1, at ROOT/memory or at a mount named after a list of
// controllers; else the "0::" line names version 2, at ROOT or ROOT/unified. A container shows
// paths relative to the host that do not exist inside; then the mount's root is the container's
// group.
//
// The limit is the tightest of the group and its ancestors, as far as they are visible.
#pragma once

#include <string>
#include <vector>

#include "probe/proc_dir.h"
#include "probe/snapshot.h"

namespace plateau {

class CgroupReader {
 public:
  CgroupReader(std::string cgroup_root, int proc);

  // Finds the group of `pid`. Cheap enough for every change of main process, not for every tick.
  void follow(pid_t pid, ProcBuffer& buffer);

  // Usage is read at every call; the parts, limits and kills only with `all`, because the kernel
  // sums them over all CPUs. In between the last figures are repeated.
  const CgroupSample& read(bool all, ProcBuffer& buffer);

 private:
  void find(const std::string& mount, const std::string& path, int version);
  void read_parts(ProcBuffer& buffer);

  std::string root_;
  int proc_;
  std::string dir_;  // Of the group; empty: none.
  Fd usage_;
  Fd stat_;
  Fd events_;
  std::vector<Fd> limits_;
  CgroupSample sample_;
};

}  // namespace plateau
