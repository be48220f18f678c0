// SPDX-License-Identifier: Apache-2.0
// What this machine lets a watcher do, looked up once: for `plateau doctor`.
//
// Nothing is tried out on other processes, nothing is written, no program is started. Every place
// that is looked at is a parameter, so that tests show machines they do not run on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probe/snapshot.h"

namespace plateau {

struct MachinePlaces {
  std::string root;  // In front of /.dockerenv and the like; empty: the real one.
  std::string proc = "/proc";
  std::string cgroup = "/sys/fs/cgroup";
  std::string shm = "/dev/shm";
  std::string maps = "/tmp";  // Where runtimes leave perf-PID.map.
  std::string debug = "/usr/lib/debug";
  std::string nvml = "libnvidia-ml.so.1";  // Empty: not looked for.
  std::string path;                        // $PATH.
};

struct PythonFound {
  std::string path;
  int minor = -1;  // Of CPython 3, by the name of the file.
};

struct MachineFacts {
  bool proc = false;          // /proc shows this process.
  bool rollup = false;        // smaps_rollup can be read,
  bool pss = false;           // and splits Pss by kind (Linux 5.9).
  bool smaps = false;         // Else the long form of it.
  bool hides_others = false;  // /proc is mounted with hidepid.
  int64_t user = -1;
  bool may_trace_all = false;  // CAP_SYS_PTRACE is in effect.
  int yama = -1;               // ptrace_scope; -1: no yama.
  int seccomp = -1;            // 0 none, 1 strict, 2 filtered; -1: not known.
  std::string container;       // "docker", "podman", "kubernetes", "lxc"; empty: none was seen.
  CgroupSample cgroup;         // Of this process.
  bool may_make_groups = false;
  int64_t shm_kb = kUnread;  // kUnread: there is none.
  int64_t shm_free_kb = kUnread;
  bool glibc = false;   // Its loader is where the distributions have it.
  bool nvidia = false;  // The driver's device is there.
  bool nvml = false;    // The library is, with devices.
  std::vector<GpuSample> gpus;
  std::vector<PythonFound> pythons;  // On the path, one per version.
  bool debug_files = false;          // Some, by build id.
  int perf_maps = 0;
};

MachineFacts look_at_machine(const MachinePlaces& places);

}  // namespace plateau
