// SPDX-License-Identifier: Apache-2.0
// The recorder of heaps: a process of its own that empties the rings of all traced processes of a
// job and keeps, for each, a HeapTrack.
//
// Why a process: rings must be emptied within some 20 ms whatever the watcher does (a walk of a
// large process takes longer than that), and its CPU is counted apart. The owner holds a Keeper;
// they speak over a socket pair. When the owner is gone, the keeper ends; traced processes then
// fill their rings, drop, and go on.
//
//   auto keeper = Keeper::start({.mode = HeapMode::sampled});
//   JobRequest request{.command = ..., .environment = keeper.value().environment(getenv(...))};
//   ... per tick: keeper.row(time_s, step); ... per step word: keeper.step(n);
//   ... now and then: for (const HeapTrack& track : keeper.tracks().value()) recording.heap(track);
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/hidden.h"
#include "base/result.h"
#include "heap/heap_counts.h"
#include "recording/heap_track.h"

namespace plateau {

enum class HeapMode : uint8_t { sampled, exact };

struct KeeperOptions {
  HeapMode mode = HeapMode::sampled;
  uint64_t interval_bytes = uint64_t{512} * 1024;
  std::string tracer;     // Path of libplateau_tracer.so; empty: beside the executable.
  std::string directory;  // Of the segments; empty: a private one under /dev/shm or TMPDIR.
};

// Ends the process and removes the directory with itself.
class Keeper {
 public:
  // Fails if the tracer is not found or the directory cannot be made.
  static Result<Keeper> start(const KeeperOptions& options);

  // What the job's environment needs: "LD_PRELOAD=..." (ours first, then `ld_preload` of the
  // caller) and "PLATEAU_HEAP=...".
  [[nodiscard]] std::vector<std::string> environment(const std::string& ld_preload) const;
  [[nodiscard]] const std::string& directory() const;
  [[nodiscard]] pid_t pid() const;

  // Neither waits for the keeper. Steps must not fall.
  void step(int64_t step);
  void row(double time_s, int64_t step);

  // The tracks as of now, of processes that live and that have ended, the largest last. Waits for
  // the answer, at most a second or so; an error says what happened to the keeper.
  Result<std::vector<HeapTrack>> tracks();
  // The same, still encoded (encode_heap_track), for a writer that only stores them.
  struct EncodedTrack {
    int64_t pid = 0;
    std::string bytes;
  };
  Result<std::vector<EncodedTrack>> encoded_tracks();

  [[nodiscard]] double cpu_s() const;  // All CPU of the keeper so far.
  // As of the last answer, since the start.
  [[nodiscard]] const HeapCounts& counts() const;

 private:
  struct State;
  explicit Keeper(Hidden<State> state) : state_(std::move(state)) {}
  Hidden<State> state_;
};

}  // namespace plateau
