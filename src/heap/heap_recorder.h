// SPDX-License-Identifier: Apache-2.0
// All traced processes of a job: finds their segments in a directory, empties them, keeps a
// GrowthProfile for each while it lives and its encoded track when it has ended.
//
// One round is look(), then whatever came from the owner (steps, rows), then read(): so a step that
// began before an event is known when the event is read. One thread, no waiting.
//
// A process that calls exec starts a new segment under its old pid; the memory that the old one
// speaks of is gone, and so is its track. At most kMaxTracks tracks of ended processes are kept
// (those of the largest heaps; what is not kept is not encoded, which is most of what the end of a
// short process costs), and kMaxSegments processes are read at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heap/growth_profile.h"
#include "heap/heap_counts.h"
#include "heap/mapped_segment.h"
#include "heap/spare_segments.h"
#include "heap/step_marks.h"
#include "recording/recording_log.h"

namespace plateau {

class HeapRecorder {
 public:
  static constexpr size_t kMaxTracks = RecordingLog::kMaxHeaps;
  static constexpr size_t kMaxSegments = 1024;

  // `spare_mode` of the files that are held ready: who may claim one.
  explicit HeapRecorder(std::string directory, mode_t spare_mode = 0600);
  ~HeapRecorder();

  // Maps and unlinks what lies in the directory. What is no segment is unlinked and counted.
  void scan();

  struct Load {
    uint64_t bytes = 0;          // To be read in this round.
    uint64_t fullest_bytes = 0;  // Of the fullest lane of all.
  };
  // `check_all`: ask at once which processes still live, not only now and then.
  Load look(bool check_all = false);
  void read();

  // `stamp` is trace_stamp() at the moment that the step began.
  void step(uint64_t stamp, int64_t step) { marks_.mark(stamp, step); }
  // Writes a row for each living process.
  void row(double time_s, int64_t step);

  // The pids that have a track, those with the largest peak last. Then each by itself: encoding
  // takes long enough that the caller may want a round in between. Empty if it has none any more.
  [[nodiscard]] std::vector<int64_t> pids() const;
  std::string encoded_track(int64_t pid);
  HeapTrack track(int64_t pid);  // Of a living process.

  [[nodiscard]] size_t living() const { return living_.size(); }
  [[nodiscard]] const HeapCounts& counts() const { return counts_; }
  [[nodiscard]] size_t refused() const { return refused_; }  // Files that are no segments.

 private:
  struct Living;
  struct Ended;

  void adopt(const std::string& path);
  void adopt(MappedSegment segment);
  void part_with(Living& process);
  void count_silent(Living& process);
  void finish(Living& process);
  // Whether an ended process of that peak is kept; the one with the smallest goes for it.
  bool makes_room_for(double peak_bytes);
  [[nodiscard]] bool has_ended(Living& process, uint64_t now) const;
  HeapRow moment_of(Living& process, double time_s, int64_t step) const;
  [[nodiscard]] double time_now_s() const;
  HeapTrack track_of(Living& process);

  std::string directory_;
  SpareSegments spares_;
  StepMarks marks_;
  std::vector<std::unique_ptr<Living>> living_;
  std::vector<Ended> ended_;
  uint64_t first_stamp_ = 0;
  double first_s_ = 0;  // The same moment on the monotonic clock.
  double ticks_per_s_ = 1e9;
  double recording_began_s_ = 0;  // On the monotonic clock.
  int64_t newest_step_ = -1;
  HeapCounts counts_;
  size_t refused_ = 0;
};

}  // namespace plateau
