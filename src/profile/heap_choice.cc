// SPDX-License-Identifier: Apache-2.0
#include "profile/heap_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "verdict/heap_sum.h"
#include "verdict/site_growth.h"

namespace plateau {
namespace {

std::string name_of(const Run& run, int64_t pid) {
  for (const Process& process : run.processes) {
    if (process.id_is_pid && process.id == pid) return process.name;
  }
  return "";
}

constexpr double kSpread = 2;

constexpr double kLeastGrowthBytes = 50e3;
constexpr double kLeastGrowthShare = 0.01;

double last_bytes(const HeapTrack& track) {
  return track.rows.empty() ? 0 : live_bytes_at(track, track.rows.back());
}

bool is_sum(const HeapTrack& track) {
  return track.pid == 0;
}

}  // namespace

double heap_growth_bytes(const HeapTrack& track) {
  const WorkingRows working = working_rows(track);
  if (working.rows.empty()) return 0;
  return live_bytes_at(track, track.rows[working.rows.back()]) -
         live_bytes_at(track, track.rows[working.rows.front()]);
}

void add_sum_of_heaps(Run& run) {
  if (run.heaps.size() > 1) run.heaps.push_back(sum_heaps(run.heaps));
}

namespace {

// The one that grew most; of those that did not, the largest: what is small beside the heap itself
// is noise, and the first one of a dozen helpers answers no question.
bool is_of_more_interest(const HeapTrack& track, const HeapTrack& than) {
  const auto growth = [](const HeapTrack& one) {
    const double bytes = heap_growth_bytes(one);
    return bytes < std::max(kLeastGrowthBytes, kLeastGrowthShare * last_bytes(one)) ? 0 : bytes;
  };
  const double mine = growth(track);
  const double other = growth(than);
  return mine != other ? mine > other : last_bytes(track) > last_bytes(than);
}

}  // namespace

Result<const HeapTrack*> choose_heap(const Run& run, const std::string& wanted) {
  const HeapTrack* best = nullptr;
  const HeapTrack* sum = nullptr;
  for (const HeapTrack& track : run.heaps) {
    if (is_sum(track)) {
      sum = &track;
      continue;
    }
    const bool fits =
        wanted.empty() || wanted == std::to_string(track.pid) || wanted == name_of(run, track.pid);
    if (!fits) continue;
    if (best == nullptr || is_of_more_interest(track, *best)) best = &track;
  }
  if (wanted == kAllProcesses && sum == nullptr && run.heaps.size() == 1) {
    return &run.heaps.front();
  }
  if (sum != nullptr && wanted == kAllProcesses) return sum;
  if (sum != nullptr && best != nullptr && wanted.empty() &&
      heap_growth_bytes(*sum) > kSpread * std::max(0.0, heap_growth_bytes(*best))) {
    return sum;
  }
  if (best != nullptr) return best;
  std::vector<std::string> known;
  for (const HeapTrack& track : run.heaps) {
    if (is_sum(track)) continue;
    const std::string name = name_of(run, track.pid);
    known.push_back(name.empty() ? std::to_string(track.pid)
                                 : fmt::format("{} ({})", track.pid, name));
  }
  return usage_error(fmt::format("no heap of process '{}' in {}; there are {}", wanted, run.source,
                                 fmt::join(known, ", ")));
}

const HeapTrack* answering_heap(const Run& run, const Verdict& verdict) {
  if (run.heaps.empty()) return nullptr;
  Result<const HeapTrack*> track = choose_heap(run, "");
  if (verdict.process && verdict.process->id_is_pid) {
    const Result<const HeapTrack*> named = choose_heap(run, std::to_string(verdict.process->id));
    if (named) track = named;
  }
  return track ? track.value() : nullptr;
}

}  // namespace plateau
