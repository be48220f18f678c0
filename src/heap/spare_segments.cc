// SPDX-License-Identifier: Apache-2.0
#include "heap/spare_segments.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/files.h"
#include "base/proc_fields.h"

namespace plateau {
namespace {

constexpr size_t kMaxIdle = 64;

}  // namespace

SpareSegments::SpareSegments(std::string directory, mode_t mode)
    : directory_(std::move(directory)),
      mode_(mode),
      filters_(seccomp_filters(text_of_file("/proc/self/status"))) {
  refill(false);
}

std::string SpareSegments::ready_name(size_t place) const {
  return fmt::format("{}/{}{}", directory_, trace::kSpareName, place);
}

// Emptied before it can be found.
bool SpareSegments::reuse(size_t place, const std::string& path) {
  const auto fits = std::find_if(idle_.begin(), idle_.end(), [place](const MappedSegment& idle) {
    return idle.small_on_purpose() == (place > 0);
  });
  if (fits == idle_.end()) return false;
  MappedSegment segment = std::move(*fits);
  idle_.erase(fits);
  segment.become_spare(filters_);
  if (std::rename(segment.path().c_str(), path.c_str()) != 0) return false;
  segment.moved_to(path);
  ready_[place] = std::move(segment);
  return true;
}

void SpareSegments::refill(bool busy) {
  for (size_t place = 0; place < (busy ? ready_.size() : 1); ++place) {
    if (ready_[place]) continue;
    const std::string path = ready_name(place);
    if (reuse(place, path)) continue;
    Result<MappedSegment> made = MappedSegment::make_spare(path, filters_, mode_, place > 0);
    if (!made) return;
    ready_[place] = std::move(made.value());
  }
}

std::vector<MappedSegment> SpareSegments::claimed() {
  std::vector<MappedSegment> taken;
  for (auto& spare : ready_) {
    if (!spare || !spare->owned()) continue;
    const std::string path = fmt::format("{}/held-{}.segment.tmp", directory_, made_++);
    if (std::rename(spare->path().c_str(), path.c_str()) == 0) spare->moved_to(path);
    taken.push_back(std::move(*spare));
    spare.reset();
  }
  const uint64_t now = trace::trace_stamp();
  if (!taken.empty()) last_claim_ = now;
  // A few billion ticks of any clock are some seconds.
  const bool busy = last_claim_ != 0 && now - last_claim_ < uint64_t{8'000'000'000};
  refill(busy);
  return taken;
}

void SpareSegments::take_back(MappedSegment segment) {
  if (idle_.size() < kMaxIdle && segment.whole()) idle_.push_back(std::move(segment));
}

}  // namespace plateau
