// SPDX-License-Identifier: Apache-2.0
#include "session/heap_watch.h"

#include <algorithm>
#include <cstdlib>

namespace plateau {
namespace {

constexpr double kWriteGapSeconds = 5;
constexpr double kWriteGapShare = 0.05;  // Of the run so far.

}  // namespace

Result<HeapWatch> HeapWatch::start(const std::optional<KeeperOptions>& options, Say say) {
  if (!options) return HeapWatch(std::nullopt, std::move(say));
  Result<Keeper> keeper = Keeper::start(*options);
  if (!keeper) return keeper.error();
  return HeapWatch(std::move(keeper.value()), std::move(say));
}

std::vector<std::string> HeapWatch::environment() const {
  if (!keeper_) return {};
  const char* preloaded = std::getenv("LD_PRELOAD");
  return keeper_->environment(preloaded != nullptr ? preloaded : "");
}

void HeapWatch::step(int64_t step) {
  if (!keeper_ || step <= step_) return;
  step_ = step;
  keeper_->step(step);
}

void HeapWatch::tick(double at_s, int64_t step, RecordingWriter& recording) {
  if (!keeper_) return;
  keeper_->row(at_s, step);
  if (at_s - written_s_ < std::max(kWriteGapSeconds, kWriteGapShare * at_s)) return;
  written_s_ = at_s;
  write(recording);
}

void HeapWatch::write(RecordingWriter& recording) {
  const Result<std::vector<Keeper::EncodedTrack>> tracks = keeper_->encoded_tracks();
  if (!tracks) {
    say_(tracks.error().message);
    keeper_.reset();
    return;
  }
  segments_ = keeper_->segments_seen();
  tracks_ = tracks.value().size();
  for (const Keeper::EncodedTrack& track : tracks.value()) recording.heap(track.pid, track.bytes);
}

size_t HeapWatch::finish(RecordingWriter& recording) {
  if (!keeper_) return tracks_;
  write(recording);
  const bool answered = keeper_.has_value();
  keeper_.reset();
  if (answered && segments_ == 0) {
    say_(
        "no process of the job could load the heap tracer (statically linked or setuid?), so "
        "nothing is known of its heap");
  }
  return tracks_;
}

}  // namespace plateau
