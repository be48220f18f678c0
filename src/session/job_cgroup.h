// SPDX-License-Identifier: Apache-2.0
// A memory cgroup of the job's own, with a hard limit: the backstop behind --limit.
//
// Sampling sees a jump only at its next tick; the kernel sees it at once. Where we may create a
// cgroup (root, or a delegated subtree), the job gets one whose hard limit lies a little above the
// limit that was asked for, so that the orderly way (save, end) comes first and the machine is safe
// in any case. Where we may not, that is said and sampling alone guards.
//
// Version 1 and 2. The group is removed when the object goes, if it is empty by then.
#pragma once

#include <string>

#include "base/result.h"

namespace plateau {

class JobCgroup {
 public:
  // `root` is where cgroups are mounted, `self` the text of /proc/self/cgroup.
  static Result<JobCgroup> create(const std::string& root, const std::string& self,
                                  double hard_limit_mb);

  JobCgroup(JobCgroup&& other) noexcept;
  JobCgroup& operator=(JobCgroup&&) = delete;
  ~JobCgroup();

  [[nodiscard]] std::string procs_file() const { return directory_ + "/cgroup.procs"; }
  [[nodiscard]] const std::string& directory() const { return directory_; }

 private:
  explicit JobCgroup(std::string directory) : directory_(std::move(directory)) {}

  std::string directory_;
};

// The last part of its path, the same for this whole process.
std::string job_cgroup_name();

// The limit to give the kernel for a limit of `limit_mb`: 5 % more, at least 64 MB more.
double backstop_mb(double limit_mb);

}  // namespace plateau
