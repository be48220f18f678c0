// SPDX-License-Identifier: Apache-2.0
// The kinds of pages that a job holds: one table of what each is made of and what it may decide.
//
// One process's RSS is the wrong number in both directions: it misses children, and summed over a
// tree it counts shared pages several times. What a tree *owns* is the sum of its anonymous pages,
// shared ones divided among their holders, plus swap. Recordings that have Pss_Anon give exactly
// that. Others are approximated, per process and in this order:
//
//   pss_anon + swap | min(anon, pss) + swap | anon + swap | pss + swap | uss | rss | memory
//
// min(anon, pss) is right at both ends: for an ordinary process anon <= pss, which also holds its
// share of files; for a forked worker pss is smaller, because anon counts inherited pages in full.
// Worked case: a parent with 400 MB and three fresh workers show anon 4 x 400 = 1600 MB from the
// start, flat, while pss grows from 400 to 1600 MB as reference counts are touched. The minimum
// follows pss.
//
// Of shared and file-backed pages too the proportional figure is taken where there is one. Shared
// memory that only descriptors hold is in neither, and is added.
//
// Blind spot: workers that share anonymous pages *and* map a growing file; pss then carries part
// of the file. Pss_Anon, when recorded, has no such blind spot.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>

#include "recording/run.h"

namespace plateau {

// One way to have an amount; the first one whose figures are known is taken.
struct Rung {
  Metric metric;
  std::string_view measure;               // For a reader: "PSS".
  std::optional<Metric> plus = {};        // Added where it is known.
  std::optional<Metric> or_smaller = {};  // The smaller of the two; both must be known.
};

struct PageKind {
  std::string_view name;
  std::span<const Rung> ladder;
  bool decides = true;       // May it decide the verdict where owned memory is known?
  bool reclaimable = false;  // The kernel takes it back under pressure.
  // The gauge that counts its readings, if they come seldom: between two of them the figure only
  // repeats the last one, and says nothing new.
  std::string_view counted_by = {};
  // The gauge with the most that it may grow to, MB, if that is another limit than the job's.
  std::string_view limited_by = {};
};

namespace pages {
inline constexpr std::array<Rung, 7> kOwned = {{
    {Metric::pss_anon, "anonymous memory, shared pages divided (Pss_Anon)", Metric::swap},
    {Metric::anon, "anonymous memory (the smaller of RssAnon and PSS)", Metric::swap, Metric::pss},
    {Metric::anon, "anonymous memory (RssAnon)", Metric::swap},
    {Metric::pss, "PSS", Metric::swap},
    {Metric::uss, "USS"},
    {Metric::rss, "RSS"},
    {Metric::memory, "memory as logged"},
}};
inline constexpr std::array<Rung, 3> kShmem = {{
    {Metric::pss_shmem, "shared memory", Metric::shmem_unmapped},
    {Metric::shmem, "shared memory", Metric::shmem_unmapped},
    {Metric::shmem_unmapped, "shared memory"},
}};
inline constexpr std::array<Rung, 2> kFile = {{
    {Metric::pss_file, "file-backed pages"},
    {Metric::file, "file-backed pages"},
}};
inline constexpr std::array<Rung, 1> kSwap = {
    {{Metric::swap, "memory swapped out (part of owned)"}}};
inline constexpr std::array<Rung, 1> kGpu = {{{Metric::gpu, "GPU memory in use"}}};
inline constexpr std::array<Rung, 1> kGpuReserved = {
    {{Metric::gpu_reserved, "GPU memory held by the caching allocator"}}};
inline constexpr std::array<Rung, 1> kJavaHeap = {
    {{Metric::java_heap, "Java heap in use, as its collections leave it"}}};
inline constexpr std::array<Rung, 1> kSystem = {
    {{Metric::system_used, "memory in use on the whole machine"}}};
}  // namespace pages

inline constexpr PageKind kOwnedPages = {"owned", pages::kOwned};
inline constexpr PageKind kSharedPages = {"shmem", pages::kShmem};
inline constexpr PageKind kFilePages = {"file", pages::kFile, false, true};
// Owned memory contains swap: pages on their way out are no growth.
inline constexpr PageKind kSwappedPages = {"swap", pages::kSwap, false};
inline constexpr PageKind kGpuPages = {"gpu", pages::kGpu};
// Within owned memory, which has the room that the collector was given; this is what is kept in it.
inline constexpr PageKind kJavaHeap = {.name = "java_heap",
                                       .ladder = pages::kJavaHeap,
                                       .counted_by = kJavaCollections,
                                       .limited_by = kJavaHeapLimit};

// All kinds, in the order in which they are judged; the first is judged whatever the others say.
inline constexpr std::array<PageKind, 8> kPageKinds = {{
    kOwnedPages,
    kSharedPages,
    kFilePages,
    kSwappedPages,
    kGpuPages,
    {"gpu_reserved", pages::kGpuReserved},
    kJavaHeap,
    {"system", pages::kSystem, false},
}};

// How much of a kind one process holds, in the unit of its figures; NaN if nothing is known of it.
// `figure` takes a Metric and gives a double, NaN for a figure that there is not.
template <typename Figure>
double amount_of(const PageKind& kind, Figure figure) {
  for (const Rung& rung : kind.ladder) {
    double amount = figure(rung.metric);
    if (!std::isfinite(amount)) continue;
    if (rung.or_smaller) {
      const double other = figure(*rung.or_smaller);
      if (!std::isfinite(other)) continue;
      amount = std::min(amount, other);
    }
    const double more = rung.plus ? figure(*rung.plus) : kMissing;
    return std::isfinite(more) ? amount + more : amount;
  }
  return kMissing;
}

// Adds what is known; a sum of nothing known is NaN.
inline void add_known(double& sum, double amount) {
  if (std::isfinite(amount)) sum = std::isfinite(sum) ? sum + amount : amount;
}

}  // namespace plateau
