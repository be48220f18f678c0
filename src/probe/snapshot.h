// SPDX-License-Identifier: Apache-2.0
// What the operating system says about a job at one moment: the output of this room.
//
// Plain data. Amounts are in kB of 1024 bytes, as the kernel counts; kUnread (-1) where a figure
// could not be or was not read. A process that vanished while it was read is simply not in the
// snapshot; nor is one that is on its way out and has no memory any more. What was read of either
// before is never repeated as if it were of now.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "recording/pages.h"
#include "recording/run.h"

namespace plateau {

inline constexpr int64_t kUnread = -1;

// A pid alone is not a name: the kernel hands it out again. With the start time it is one.
struct ProcessKey {
  pid_t pid = 0;
  uint64_t start_ticks = 0;  // Since boot, /proc/PID/stat field 22.

  auto operator<=>(const ProcessKey&) const = default;
};

struct ProcessSample {
  ProcessKey key;
  pid_t parent = -1;  // As of the tree: an orphan keeps the parent it had.
  std::string name;   // For a reader: "python train.py", "sh", at most 60 characters.
  Role role = Role::unknown;
  std::string role_reason;  // "runs torchrun, has children"; one clause.
  int64_t rank = -1;        // As its environment tells (launch_identity.h); -1: it does not.

  // Cheap, every tick (/proc/PID/statm, status, stat); swap may be a second old.
  int64_t rss_kb = kUnread;  // anon + file + shmem.
  int64_t anon_kb = kUnread;
  int64_t file_kb = kUnread;
  int64_t shmem_kb = kUnread;
  int64_t swap_kb = kUnread;
  int64_t threads = kUnread;
  double cpu_s = 0;  // User and system, since its start; read once a second.

  // From a page-table walk, and between walks carried by the cheap figures (see carry.h): measured
  // only in a snapshot with `walked`. kUnread until the first walk could be afforded or if it is
  // not permitted; pss_anon_kb alone is always carried, from the fork on.
  int64_t pss_kb = kUnread;
  int64_t pss_anon_kb = kUnread;
  int64_t pss_file_kb = kUnread;
  int64_t pss_shmem_kb = kUnread;
  int64_t uss_kb = kUnread;

  // Now and then (descriptor scan); the last figure is repeated in between.
  int64_t fds = kUnread;
  int64_t shmem_unmapped_kb = kUnread;  // Deleted or anonymous shared memory it holds open without
                                        // mapping it; counted once per tree, at its first holder.
  int64_t gpu_kb = kUnread;             // NVML, over all devices.

  // Of a JVM (jvm_heap.h), a few times a second: what is kept in its heap, how often that was seen
  // to be collected, and what it may grow to.
  int64_t java_heap_kb = kUnread;
  int64_t java_collections = kUnread;
  int64_t java_limit_kb = kUnread;
};

// The memory figures of a process by what they count.
struct ProcessFigure {
  Metric metric;
  int64_t ProcessSample::* kb;
};
inline constexpr std::array<ProcessFigure, 13> kProcessFigures = {{
    {Metric::rss, &ProcessSample::rss_kb},
    {Metric::anon, &ProcessSample::anon_kb},
    {Metric::file, &ProcessSample::file_kb},
    {Metric::shmem, &ProcessSample::shmem_kb},
    {Metric::swap, &ProcessSample::swap_kb},
    {Metric::pss_anon, &ProcessSample::pss_anon_kb},
    {Metric::pss, &ProcessSample::pss_kb},
    {Metric::pss_file, &ProcessSample::pss_file_kb},
    {Metric::pss_shmem, &ProcessSample::pss_shmem_kb},
    {Metric::uss, &ProcessSample::uss_kb},
    {Metric::shmem_unmapped, &ProcessSample::shmem_unmapped_kb},
    {Metric::gpu, &ProcessSample::gpu_kb},
    {Metric::java_heap, &ProcessSample::java_heap_kb},
}};

// How much of a kind of pages the process holds, in MB; NaN if that was not read.
inline double amount_mb(const PageKind& kind, const ProcessSample& process) {
  return amount_of(kind, [&process](Metric metric) {
    for (const ProcessFigure& figure : kProcessFigures) {
      const int64_t kb = process.*figure.kb;
      if (figure.metric == metric && kb != kUnread) return mb_of_kb(kb);
    }
    return kMissing;
  });
}

struct CgroupSample {
  std::string path;  // As the kernel shows it: "/user.slice/job-1".
  int version = 0;   // 1 or 2; 0 if there is none to read.
  int64_t usage_kb = kUnread;
  int64_t anon_kb = kUnread;
  int64_t file_kb = kUnread;
  int64_t shmem_kb = kUnread;
  int64_t limit_kb = kUnread;  // The tightest of this group and its ancestors; kUnread: none.
  int64_t oom_kills = kUnread;
};

struct GpuSample {
  int index = 0;
  std::string name;
  int64_t used_kb = kUnread;
  int64_t total_kb = kUnread;
};

// What watching cost so far, in seconds of wall-clock and CPU of this process.
struct ProbeCost {
  double cpu_s = 0;        // Of sampling.
  double walks_s = 0;      // Spent in page-table walks, all targets.
  uint64_t walks = 0;      // smaps_rollup files read.
  uint64_t ticks = 0;      // Snapshots taken.
  double worst_share = 0;  // Of one target's life spent under a walk: the largest over targets.
};

struct Snapshot {
  double time_s = 0;  // Of the probe's clock, monotonic.
  bool walked = false;
  // False if what matters could not be read: the root or a main process was ending while it was
  // looked at, or files could not be opened (figures are then those of before). Such a snapshot is
  // not to be judged.
  bool whole = true;
  std::vector<ProcessSample> processes;  // Root first, then by pid.
  std::vector<ProcessKey> gone;          // Members of the snapshot before that are no longer there.
  CgroupSample cgroup;                   // Of the main process.
  int64_t system_available_kb = kUnread;
  int64_t system_total_kb = kUnread;
  int64_t shm_size_kb = kUnread;       // /dev/shm as the main process sees it (job_limits.h),
  int64_t shm_used_kb = kUnread;       // by whomever.
  int64_t address_limit_kb = kUnread;  // RLIMIT_AS of the main process; kUnread: none.
  std::vector<GpuSample> gpus;
  // Which part of which job this is, whenever more has become known: all that the environment of
  // the root tells, and what that of its descendants adds about the job as a whole.
  std::optional<Context> launched;
  ProbeCost cost;
  // Things that may not be read, each said once per Sampler: "pid 812 (postgres): smaps_rollup:
  // permission denied; its PSS is not known".
  std::vector<std::string> complaints;
};

}  // namespace plateau
