// SPDX-License-Identifier: Apache-2.0
#include "session/heap_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/clock.h"
#include "recording/recording_log.h"

namespace plateau {
namespace {

// What a killed watcher leaves is at most this old. Writing itself takes at most a fiftieth.
constexpr double kShortestGapSeconds = 1;
constexpr double kLongestGapSeconds = 10;
constexpr double kRestPerWrite = 50;
constexpr double kWriteGapShare = 0.05;  // Of the run so far.

}  // namespace

Result<HeapWatch> HeapWatch::start(const std::optional<KeeperOptions>& options, Say say) {
  if (!options) return HeapWatch(std::nullopt, std::move(say));
  Result<Keeper> keeper = Keeper::start(*options);
  if (!keeper) return keeper.error();
  HeapWatch watch(std::move(keeper.value()), std::move(say));
  watch.exact_ = options->mode == HeapMode::exact;
  return watch;
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
  const double gap_s = std::clamp(kWriteGapShare * at_s, kShortestGapSeconds, kLongestGapSeconds);
  if (at_s - written_s_ < std::max(gap_s, kRestPerWrite * writing_took_s_)) return;
  written_s_ = at_s;
  const double begun_s = monotonic_now_s();
  write(recording);
  writing_took_s_ = monotonic_now_s() - begun_s;
}

void HeapWatch::look(const Snapshot& snapshot, double at_s) {
  if (keeper_ && expects_all_) untraced_.look(snapshot, at_s);
}

void HeapWatch::write(RecordingWriter& recording) {
  const Result<std::vector<Keeper::EncodedTrack>> tracks = keeper_->encoded_tracks();
  if (!tracks) {
    say_(tracks.error().message);
    keeper_.reset();
    return;
  }
  segments_ = keeper_->counts().segments_seen;
  for (const Keeper::EncodedTrack& track : tracks.value()) {
    const size_t hash = std::hash<std::string>()(track.bytes);
    const auto [known, fresh] = written_.try_emplace(track.pid, hash);
    // Once some had to go, only what is written again is sure to be there.
    const bool there =
        !fresh && known->second == hash && written_.size() <= RecordingLog::kMaxHeaps;
    known->second = hash;
    if (!there) recording.heap(track.pid, track.bytes);
  }
}

void HeapWatch::say_of_room() const {
  const std::string& directory = keeper_->directory();
  const std::string place = directory.substr(0, directory.rfind("/plateau-heap-"));
  if (keeper_->counts().untraced > 0) {
    say_(
        fmt::format("no room in {} for the heap tracer: {} of the job's processes, and what they "
                    "forked, ran untraced; free some, or set TMPDIR to a place with 8 MB for each",
                    place, keeper_->counts().untraced));
  }
  if (keeper_->counts().silent > 0) {
    say_(fmt::format(
        "{} of the job's processes began in a sandbox that leaves the heap tracer no way "
        "to report (no files, or no system calls); they ran untraced",
        keeper_->counts().silent));
  }
  if (keeper_->counts().cramped > 0) {
    say_(fmt::format(
        "little room in {}: {} of the job's processes {} traced through smaller "
        "rings, from which more may be lost",
        place, keeper_->counts().cramped, keeper_->counts().cramped == 1 ? "was" : "were"));
  }
}

void HeapWatch::finish(RecordingWriter& recording) {
  if (!keeper_) return;
  write(recording);
  const bool answered = keeper_.has_value();
  if (answered && keeper_->counts().forgotten > 0) {
    recording.note(fmt::format("heap: of {} more processes with small heaps nothing was kept",
                               keeper_->counts().forgotten));
  }
  const size_t untraced = answered ? keeper_->counts().untraced + keeper_->counts().silent : 0;
  if (answered) say_of_room();
  keeper_.reset();
  if (answered) say_of_silence(segments_ == 0 && untraced == 0);
}

void HeapWatch::say_of_silence(bool none_seen) const {
  std::set<int64_t> with_track;
  for (const auto& [pid, hash] : written_) with_track.insert(pid);
  const std::vector<std::string> reasons = untraced_.sentences(with_track, exact_);
  for (const std::string& each : reasons) say_(each);
  if (none_seen && reasons.empty()) {
    say_(
        fmt::format("no allocation of the job was seen, and no process of it was large enough to "
                    "say why: {}its programs are statically linked or setuid, or were started "
                    "without the job's environment",
                    exact_ ? "" : "it allocates less than one sample, "));
  }
}

}  // namespace plateau
