// SPDX-License-Identifier: Apache-2.0
// Segments that are held ready for the next processes of a job (tracer/segment.h, "Spares").
//
// A segment takes milliseconds to make, most of it for 8 MB of zeros, and calls that a sandbox may
// forbid. So the recorder makes them ahead, and takes those of processes that are gone for others:
// a job that forks all the time uses the same few. How many are ready follows the demand: one, for
// the next program, and while processes come a set of small ones for children. Without room for a
// whole one the lanes are smaller.
#pragma once

#include <sys/types.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "heap/mapped_segment.h"
#include "tracer/segment.h"

namespace plateau {

class SpareSegments {
 public:
  // `mode` of the files: who may claim them.
  SpareSegments(std::string directory, mode_t mode);

  // Those that a process has claimed and filled in since the last call. Refills what it took.
  std::vector<MappedSegment> claimed();

  // The process of this one is gone, with every thread.
  void take_back(MappedSegment segment);

 private:
  void refill(bool busy);
  bool reuse(size_t place, const std::string& path);
  [[nodiscard]] std::string ready_name(size_t place) const;

  std::string directory_;
  mode_t mode_;
  int32_t filters_;
  std::array<std::optional<MappedSegment>, trace::kSpareCount> ready_;
  std::vector<MappedSegment> idle_;  // Taken back, for which there was no place.
  uint64_t made_ = 0;
  uint64_t last_claim_ = 0;  // Stamp.
};

}  // namespace plateau
