// SPDX-License-Identifier: Apache-2.0
// The heap side of a supervised job: a keeper, if one was asked for, told about steps and samples,
// and its tracks written into the recording now and then.
//
// Tracks are written when a twentieth of the run has passed since the last time, every second at
// first and every ten seconds at last, so that what a killed watcher leaves is at most that old. A
// recording holds the tracks that came last, so those of the largest processes are written last. If
// the keeper dies, that is said once and the job goes on. Without a keeper everything is nothing.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "heap/keeper.h"
#include "recording/recording.h"
#include "session/untraced.h"

namespace plateau {

class HeapWatch {
 public:
  using Say = std::function<void(const std::string&)>;

  static Result<HeapWatch> start(const std::optional<KeeperOptions>& options, Say say);

  // What the job's environment needs.
  [[nodiscard]] std::vector<std::string> environment() const;
  [[nodiscard]] pid_t pid() const { return keeper_ ? keeper_->pid() : -1; }
  [[nodiscard]] double cpu_s() const { return keeper_ ? keeper_->cpu_s() : 0; }

  void step(int64_t step);
  void tick(double at_s, int64_t step, RecordingWriter& recording);
  // The job was started with environment(): who of it is not traced is found out as it runs, and
  // said at the end.
  void expect_all() { expects_all_ = true; }
  void look(const Snapshot& snapshot, double at_s);

  // Writes the last tracks and ends the keeper.
  void finish(RecordingWriter& recording);

 private:
  HeapWatch(std::optional<Keeper> keeper, Say say)
      : keeper_(std::move(keeper)), say_(std::move(say)) {}
  void write(RecordingWriter& recording);
  void say_of_room() const;
  void say_of_silence(bool none_seen) const;

  std::optional<Keeper> keeper_;
  Say say_;
  int64_t step_ = -1;
  double written_s_ = 0;
  double writing_took_s_ = 0;
  std::map<int64_t, size_t> written_;  // Hash of the track of each pid in the recording.
  size_t segments_ = 0;
  bool exact_ = false;
  bool expects_all_ = false;
  UntracedProcesses untraced_;
};

}  // namespace plateau
