// SPDX-License-Identifier: Apache-2.0
#include "heap/spare_segments.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/files.h"

namespace plateau {
namespace {

constexpr size_t kMaxIdle = 16;

int32_t own_filters() {
  const std::string status = text_of_file("/proc/self/status");
  for (const std::string_view name : {"\nSeccomp_filters:", "\nSeccomp:"}) {
    const size_t at = status.find(name);
    if (at != std::string::npos) return std::atoi(status.c_str() + at + name.size());
  }
  return -1;
}

}  // namespace

SpareSegments::SpareSegments(std::string directory, mode_t mode)
    : directory_(std::move(directory)), mode_(mode), filters_(own_filters()) {
  refill(1);
}

std::string SpareSegments::ready_name(size_t place) const {
  return fmt::format("{}/{}{}", directory_, trace::kSpareName, place);
}

void SpareSegments::refill(size_t wanted) {
  size_t there = 0;
  for (const auto& spare : ready_) there += spare.has_value() ? 1 : 0;
  for (size_t place = 0; place < ready_.size() && there < wanted; ++place) {
    if (ready_[place]) continue;
    const std::string path = ready_name(place);
    if (!idle_.empty()) {
      // Emptied before it can be found.
      idle_.back().become_spare(filters_);
      if (std::rename(idle_.back().path().c_str(), path.c_str()) == 0) {
        idle_.back().moved_to(path);
        ready_[place] = std::move(idle_.back());
      }
      idle_.pop_back();
    } else if (Result<MappedSegment> made = MappedSegment::make_spare(path, filters_, mode_)) {
      ready_[place] = std::move(made.value());
    }
    if (!ready_[place]) return;
    ++there;
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
  refill(busy ? trace::kSpareCount : 1);
  return taken;
}

void SpareSegments::take_back(MappedSegment segment) {
  if (idle_.size() < kMaxIdle && segment.whole()) idle_.push_back(std::move(segment));
}

}  // namespace plateau
