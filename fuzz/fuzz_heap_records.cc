// SPDX-License-Identifier: Apache-2.0
// Whatever stands in a lane: no bytes crash the parser or what takes its records, and the track
// that comes of them is consistent.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "heap/growth_profile.h"
#include "heap/record_parser.h"
#include "recording/checks_for_test.h"

namespace {

void require(bool truth) {
  if (!truth) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint64_t> words(size / sizeof(uint64_t));
  if (!words.empty()) std::memcpy(words.data(), data, words.size() * sizeof(uint64_t));
  plateau::StepMarks marks;
  marks.mark(1000, 3);
  plateau::GrowthProfile profile(&marks);
  for (const bool ordered : {true, false}) {
    profile.begin_round(ordered);
    const plateau::ParseEnd end = plateau::parse_records(words, words.size(), profile);
    require(end.words <= words.size());
    require(end.damaged || end.words == words.size());
    profile.end_round();
    profile.row({.time_s = ordered ? 1.0 : 2.0, .step = ordered ? 1 : 2});
  }
  require(plateau::check_heap_track(profile.track(5000)).empty());
  return 0;
}
