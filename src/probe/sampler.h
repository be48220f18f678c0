// SPDX-License-Identifier: Apache-2.0
// Watches one job: finds its processes again at every tick and reads their figures.
//
// One Sampler per job, used from one thread. It never signals, stops or writes to a target.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/hidden.h"
#include "base/result.h"
#include "probe/snapshot.h"

namespace plateau {

struct ProbeOptions {
  std::string proc = "/proc";  // Another root in tests.
  std::string cgroup_root = "/sys/fs/cgroup";
  std::string nvml = "libnvidia-ml.so.1";  // Empty: no GPUs are looked for.

  // Share of a target's time that may pass under page-table walks, which block its mmap and munmap.
  double walk_share = 0.002;
  // Share of one core that all walks together may cost us.
  double walk_cpu_share = 0.005;
  double fd_scan_every_s = 10;  // And never more than walk_cpu_share of a core.
  bool gpus = true;
  // Also follow processes that left the tree but share its session or its cgroup. `run` sets
  // itself as the job's subreaper and finds them as children; `watch` needs this.
  bool follow_orphans = true;
  // Never members: the watcher itself, its relay, other watchers.
  std::vector<pid_t> exclude;
};

class Sampler {
 public:
  // Watches the tree that `pid` belongs to: from the topmost process of the job (wrapper or main)
  // down. With `exact_root` the tree is `pid` and its descendants. Fails if there is no such
  // process, with what to try.
  static Result<Sampler> of_pid(pid_t pid, const ProbeOptions& options, bool exact_root = false);

  // One tick. `now_s` is the caller's monotonic clock and decides what is due (walks, scans), so
  // that tests own time. An empty `processes` in a whole snapshot means that the job is over.
  Snapshot sample(double now_s);

  // Does a page-table walk of the whole tree at the next sample() whatever the budget says; for the
  // last sample of a run.
  void want_walk();

  // One more that is never a member (ProbeOptions::exclude).
  void exclude(pid_t pid);

  [[nodiscard]] ProcessKey root() const;
  // Why this root: "2 steps above 4242 (python train.py); its parent is a shell (bash)".
  [[nodiscard]] const std::string& root_reason() const;

 private:
  struct State;
  explicit Sampler(Hidden<State> state) : state_(std::move(state)) {}
  Hidden<State> state_;
};

// A job with Python in it that maps torch, CUDA, JAX or TensorFlow: what a node is watched for.
struct TrainingJob {
  ProcessKey root;
  pid_t pid = -1;     // Its largest Python process.
  std::string label;  // "python train.py"
};
// Finds all of them again and again: of this user, or for root of all users, the largest first.
//
// What a process maps is costly to read and held back while its memory map is in use, so it is read
// until a framework is found there, after 10 s, 20 s, ... up to every 5 min; then never again.
class TrainingSearch {
 public:
  explicit TrainingSearch(ProbeOptions options) : options_(std::move(options)) {}
  // `now_s` is the caller's monotonic clock.
  std::vector<TrainingJob> look(double now_s);
  void exclude(pid_t pid) { options_.exclude.push_back(pid); }

 private:
  struct Known {
    uint64_t start = 0;
    bool framework = false;
    double next_s = 0;
    double pause_s = 0;
  };
  ProbeOptions options_;
  std::map<pid_t, Known> known_;
};

// The process that most looks like a training job of this user: Python or torchrun with the most
// owned memory, CUDA or torch mapped, many children. Several about equal ones are an error that
// lists them.
Result<pid_t> find_training(const ProbeOptions& options);

}  // namespace plateau
