// SPDX-License-Identifier: Apache-2.0
#include "census/census.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <iterator>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include "base/clock.h"
#include "base/fd.h"
#include "base/files.h"
#include "base/proc_fields.h"
#include "base/units.h"
#include "census/announce.h"
#include "census/find_holders.h"
#include "census/find_python.h"
#include "census/heap_walk.h"
#include "census/program_files.h"
#include "census/remote_memory.h"
#include "census/roots.h"
#include "ptrace/refusal.h"
#include "ptrace/stopped_process.h"

namespace plateau {
namespace {

// A process that makes many objects collects the young ones all the time, for microseconds; a full
// collection of a large heap takes a second. So the tries begin close together, and end far apart:
// 20 ms, 40 ms, ... All of them take 1.4 s. A try that finds a collection costs the process 0.1 ms.
constexpr int kCloseTries = 40;
constexpr int kTries = kCloseTries + 7;
constexpr std::chrono::milliseconds kClosePause{3};
constexpr std::chrono::milliseconds kFirstFarPause{20};
// Of the time allowed, so much is kept for letting go.
constexpr double kWalkShare = 0.95;
// A try with less than this share of it left is not worth the stop.
constexpr double kLeastShareForTry = 0.2;

// Copied per tracked object, with what lies between them: 120 to 180 bytes were measured in a heap
// of small objects, 710 under torch and transformers, where lists and tables stand among the
// tensors. Too much reserved is a moment of our own memory; of too little each page is cleared
// while the process stands still, which took 0.25 s of 0.4 in a virtual machine that had to ask its
// host.
constexpr uint64_t kBytesPerObject = 800;
constexpr uint64_t kLeastReadyBytes = uint64_t{64} << 20;

// Of the walk's time, after so much nothing more is announced for finding holders, where the counts
// come first.
constexpr double kAnnounceShare = 0.7;
// Following references happens after the process goes on; it is our own time.
constexpr double kMostFollowingS = 10;

struct Attempt {
  HeapWalk walk;
  double at_s = 0;
  double stopped_s = 0;
  HolderFindings holders;
};

Result<void> check_readable(pid_t pid) {
  const TargetFacts facts = look_at_target(pid);
  if (const Result<void> checked = check_target(pid, facts); !checked) return checked;
  const Fd maps(::open(("/proc/" + std::to_string(pid) + "/maps").c_str(), O_RDONLY | O_CLOEXEC));
  if (!maps) return explain_refusal(pid, facts, errno);
  return {};
}

// How much will be copied, to have room for it ready before the stop: by the collector's own count
// where it has one, and never more than the process has memory of its own.
uint64_t likely_bytes(pid_t pid, const PythonPlace& place, RemoteMemory& memory) {
  const std::string status = text_of_file("/proc/" + std::to_string(pid) + "/status");
  const uint64_t owned = number_field(status, "RssAnon") * 1024;
  const uint64_t objects = std::min(last_collected_objects(memory, place), owned);
  return std::min(owned, kLeastReadyBytes + objects * kBytesPerObject);
}

// Types of what long containers hold beside objects that are listed; none of theirs was counted.
std::vector<TypeTally> types_of_items(MemoryReader& memory, const PythonLayout& layout,
                                      const Announcer& announcer, const HeapWalk& walk) {
  std::unordered_set<uint64_t> wanted = announcer.item_types();
  for (const TypeTally& tally : walk.types) wanted.erase(tally.address);
  std::vector<TypeTally> found;
  for (const uint64_t type : wanted) {
    if (auto facts = read_type_facts(memory, layout, type))
      found.push_back({type, std::move(*facts)});
  }
  return found;
}

std::function<bool(uint64_t)> tensor_types(const HeapWalk& walk) {
  std::unordered_set<uint64_t> types;
  for (const TypeTally& tally : walk.types) {
    if (tally.facts.tensor) types.insert(tally.address);
  }
  return [types = std::move(types)](uint64_t type) { return types.contains(type); };
}

Result<Attempt> walk_once(pid_t pid, const PythonPlace& place, RemoteMemory& memory,
                          const CensusOptions& options) {
  memory.forget();
  Result<StoppedProcess> stopped = StoppedProcess::stop(pid, options.max_stop_s);
  if (!stopped) return stopped.error();
  const double until_s = options.max_stop_s * kWalkShare;
  const double announce_share = options.holders_first ? 1 : kAnnounceShare;
  Announcer announcer(memory, place.layout);
  const auto late = [&] {
    const double now_s = stopped.value().stopped_s();
    if (now_s > until_s * announce_share) announcer.give_up();
    return now_s > until_s;
  };
  Attempt attempt;
  attempt.at_s = monotonic_now_s();
  attempt.walk = walk_heap(memory, place, late, options.holders ? &announcer : nullptr);
  const bool whole = attempt.walk.end == WalkEnd::complete;
  const bool follow = whole && options.holders && !late() && !announcer.gave_up();
  const Roots roots = follow ? find_roots(memory, place, announcer) : Roots{};
  std::vector<TypeTally> item_types;
  if (follow) item_types = types_of_items(memory, place.layout, announcer, attempt.walk);
  std::vector<uint64_t> tensors;
  if (follow) tensors = announcer.tensors(tensor_types(attempt.walk));
  attempt.stopped_s = stopped.value().release();
  // The process goes on; what was copied stays as it was.
  if (!whole || !memory.close()) return attempt;
  measure_heap(memory, place, attempt.walk);
  if (follow) {
    const double since_s = monotonic_now_s();
    std::ranges::move(item_types, std::back_inserter(attempt.walk.types));
    attempt.holders =
        find_holders({memory, place.layout, attempt.walk, roots, tensors,
                      [pid](const std::string& file) { return program_text(pid, file); }},
                     options.before, [&] { return monotonic_now_s() - since_s > kMostFollowingS; });
  } else if (options.holders) {
    attempt.holders.trouble = "the time allowed was too short to see who holds them";
  }
  return attempt;
}

void pause_before(int attempt) {
  const auto pause =
      attempt <= kCloseTries ? kClosePause : kFirstFarPause * (1 << (attempt - kCloseTries - 1));
  std::this_thread::sleep_for(pause);
}

Error too_slow(pid_t pid, const Attempt& attempt, double max_stop_s) {
  std::string reason =
      fmt::format("after {:.0f} ms, the time allowed, {} objects were read", max_stop_s * 1000,
                  format_count(static_cast<int64_t>(attempt.walk.objects)));
  const auto seen = static_cast<double>(attempt.walk.objects);
  const auto total = static_cast<double>(attempt.walk.last_collected);
  if (seen > 0 && total > seen) {
    reason += fmt::format(" of about {}", format_count(static_cast<int64_t>(total)));
    // The last of several tries may have had little of the time.
    const double likely_s = 1.5 * std::max(attempt.stopped_s, max_stop_s) * total / seen;
    return unreadable(pid, reason,
                      fmt::format("the process went on; --max-stop {:.1f}s would likely do",
                                  std::ceil(likely_s * 10) / 10));
  }
  return unreadable(pid, reason,
                    fmt::format("the process went on; try --max-stop {:.1f}s", 4 * max_stop_s));
}

// Why no walk succeeded, from the last one that was tried.
Error gave_up(pid_t pid, const Attempt& attempt, const PythonPlace& place, double max_stop_s) {
  switch (attempt.walk.end) {
    case WalkEnd::late:
      return too_slow(pid, attempt, max_stop_s);
    case WalkEnd::collecting:
      return unreadable(pid, "its garbage collector was at work each time it was looked at",
                        "try again");
    case WalkEnd::no_interpreter:
      return unreadable(pid, "its interpreter is not set up (the process starts or ends)",
                        "try again in a moment");
    case WalkEnd::torn:
    case WalkEnd::complete:
      break;
  }
  return unreadable(
      pid,
      fmt::format("the lists of its collector do not hang together as those of CPython "
                  "3.{} should ({} objects in)",
                  place.layout.minor, attempt.walk.objects),
      "a build of its own may lay them out differently; nothing was changed in it");
}

// Types of one name are one to a reader, also if a class was made several times.
Census census_of(pid_t pid, const PythonPlace& place, const Attempt& attempt) {
  Census census{.pid = pid, .minor = place.layout.minor};
  census.objects = attempt.walk.objects;
  census.unreadable = attempt.walk.unreadable;
  std::unordered_map<std::string, size_t> places;
  for (const TypeTally& tally : attempt.walk.types) {
    if (tally.objects == 0) continue;
    const auto [found, fresh] = places.try_emplace(tally.facts.name, census.types.size());
    if (fresh) census.types.push_back({.type = tally.facts.name});
    TypeCount& count = census.types[found->second];
    count.objects += tally.objects;
    count.bytes += tally.bytes;
    count.tensor = count.tensor || tally.facts.tensor;
  }
  std::ranges::sort(census.types, [](const TypeCount& a, const TypeCount& b) {
    return a.objects != b.objects ? a.objects > b.objects : a.type < b.type;
  });
  return census;
}

}  // namespace

Result<Census> take_census(pid_t pid, const CensusOptions& options,
                           const std::function<void()>& before_stop) {
  if (const Result<void> checked = check_readable(pid); !checked) return checked.error();
  RemoteMemory memory(pid);
  const Result<PythonPlace> place = find_python(pid, memory);
  if (!place) return place.error();
  memory.reserve(likely_bytes(pid, place.value(), memory));
  if (before_stop) before_stop();
  double stopped_s = 0;
  Attempt last;
  for (int i = 0; i < kTries; ++i) {
    const double left_s = options.max_stop_s - stopped_s;
    if (left_s < kLeastShareForTry * options.max_stop_s) break;
    if (i > 0) pause_before(i);
    CensusOptions now = options;
    now.max_stop_s = left_s;
    Result<Attempt> attempt = walk_once(pid, place.value(), memory, now);
    if (!attempt) return attempt.error();
    last = std::move(attempt.value());
    stopped_s += last.stopped_s;
    if (last.walk.end == WalkEnd::late) break;
    if (last.walk.end != WalkEnd::complete) continue;
    Census census = census_of(pid, place.value(), last);
    census.stopped_s = stopped_s;
    census.at_s = last.at_s;
    census.bytes_read = memory.bytes_read();
    census.holders = std::move(last.holders);
    return census;
  }
  return gave_up(pid, last, place.value(), options.max_stop_s);
}

Result<uint64_t> likely_objects(pid_t pid) {
  if (const Result<void> checked = check_readable(pid); !checked) return checked.error();
  RemoteMemory memory(pid);
  const Result<PythonPlace> place = find_python(pid, memory);
  if (!place) return place.error();
  return last_collected_objects(memory, place.value());
}

CensusGrowth compare_census(const Census& a, const Census& b) {
  CensusGrowth growth;
  std::unordered_map<std::string, size_t> places;
  const auto entry = [&](const TypeCount& count) -> TypeGrowth& {
    const auto [found, fresh] = places.try_emplace(count.type, growth.types.size());
    if (fresh) growth.types.push_back({.type = count.type});
    TypeGrowth& type = growth.types[found->second];
    type.tensor = type.tensor || count.tensor;
    return type;
  };
  for (const TypeCount& count : a.types) {
    TypeGrowth& type = entry(count);
    type.objects_before = count.objects;
    type.bytes_before = count.bytes;
  }
  for (const TypeCount& count : b.types) {
    TypeGrowth& type = entry(count);
    type.objects_after = count.objects;
    type.bytes_after = count.bytes;
  }
  growth.objects_before = a.objects;
  growth.objects_after = b.objects;
  std::ranges::sort(growth.types, [](const TypeGrowth& x, const TypeGrowth& y) {
    if (x.objects_grown() != y.objects_grown()) return x.objects_grown() > y.objects_grown();
    if (x.bytes_grown() != y.bytes_grown()) return x.bytes_grown() > y.bytes_grown();
    return x.type < y.type;
  });
  return growth;
}

}  // namespace plateau
