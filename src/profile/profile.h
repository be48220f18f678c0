// SPDX-License-Identifier: Apache-2.0
// The heap of one process as a reader asks about it: which call stacks, Python types and tensors
// grow, how fast, and where they stand.
//
// make_profile() names the stacks, sums those that look the same to a reader, has the sums judged,
// and keeps what the views need; the views only format. All texts are made harmless here.
//
//   Result<HeapProfile> profile = profile_heap(run, track, options);
//   print(render_profile(profile.value(), view, {.top = 10}));  // report/profile_view.h
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/pattern.h"
#include "base/result.h"
#include "profile/export.h"
#include "recording/heap_track.h"
#include "recording/run.h"
#include "symbols/stack_names.h"
#include "verdict/site_growth.h"

namespace plateau {

// Innermost first.
using NameStack = std::function<std::vector<FrameName>(const HeapStack&)>;

// What is summed into one site.
enum class ProfileBy : uint8_t { stack, function, module, kind };

struct ProfileOptions {
  ProfileBy by = ProfileBy::stack;
  bool full = false;                // Hide no frames.
  std::optional<HeapKind> kind;     // Only blocks of this kind.
  std::optional<Pattern> filter;    // Only stacks with a frame that it is found in.
  std::optional<Pattern> exclude;   // No stacks with such a frame.
  std::optional<double> from_step;  // Difference between two moments on the clock;
  std::optional<double> to_step;    // default the first and the last that count.
  bool at_peak = false;             // The second moment is that of the largest heap.
  size_t courses = 0;               // Keep ProfileSite::course of so many sites, the first.
  Policy policy;
};

struct ProfileSite {
  SiteVerdict verdict;            // Over the whole run.
  std::vector<FrameName> frames;  // To show, innermost first.
  std::string title;              // One line.
  std::string kinds;              // "heap", "heap + python".
  size_t stacks = 0;              // So many recorded stacks are summed here.
  double from_mb = 0;             // Alive at the two moments compared.
  double to_mb = 0;
  double peak_mb = 0;       // Alive when the heap was largest.
  double allocated_mb = 0;  // Ever.
  double freed_mb = 0;
  double allocated_blocks = 0;     // Ever,
  double temporary_blocks = 0;     // and those freed within the step or second they were made in.
  std::vector<TimedValue> course;  // Alive at every row that counts, if asked for.
  [[nodiscard]] double growth_mb() const { return to_mb - from_mb; }
};

// Python objects of one type, or tensors of one shape, as the Python client counts them.
struct ProfileCount {
  std::string name;     // "dict", "float32 8x3x224x224 on cpu"
  SiteVerdict verdict;  // In counts.
  double mb_each = 0;   // Of a tensor; 0 if not known.
};

struct HeapProfile {
  std::string file;
  int64_t pid = 0;      // 0: the sum over all processes.
  std::string process;  // Its name; may be empty.
  Clock clock = Clock::steps;
  double from = 0;  // The moments compared.
  double to = 0;
  size_t from_row = 0;  // Their rows in the track.
  size_t to_row = 0;
  bool compares = false;  // They were asked for.
  double peak = 0;        // When most was alive, of the rows that count,
  size_t peak_row = 0;    // in which row of the track,
  double peak_mb = 0;     // and how much.
  bool exact = false;
  double interval_bytes = 0;
  uint64_t dropped_allocs = 0;  // Blocks that could not be recorded: live memory is too low.
  uint64_t dropped_frees = 0;   // Ends that could not: live memory is too high.
  std::string allocator;
  double from_mb = 0;  // Alive in all.
  double to_mb = 0;
  HeapTotals heap_totals;  // All blocks of malloc's family, to the end of the process.
  double others_mb = 0;    // Of that in folded sites, without a stack.
  // The largest growth first, whatever its word; by the size of the difference if moments were
  // asked for. Of equal growth the larger first.
  std::vector<ProfileSite> sites;
  double matters_mb = 0;              // Growth of a site by less is none.
  std::vector<ProfileCount> tensors;  // The largest growth first, here and below.
  std::vector<ProfileCount> types;
  std::vector<std::string> notes;
};

// An error if the moments asked for hold no rows. `file` is shown as it is.
Result<HeapProfile> make_profile(const Run& run, const HeapTrack& track, const NameStack& names,
                                 const ProfileOptions& options);

// The same with the names that the process's files give; what they lack becomes notes. Reads symbol
// files.
Result<HeapProfile> profile_heap(const Run& run, const HeapTrack& track,
                                 const ProfileOptions& options);

// True if its growth is worth a line: it is judged as such, or it holds more than it did.
bool site_grew(const HeapProfile& profile, const ProfileSite& site);
// The site that answers for the process's growth: one that goes on growing, if what it grew by is
// a tenth or more of the largest growth, else the one with that. nullptr if nothing grew.
const ProfileSite* growth_site(const HeapProfile& profile);
// Its place, for a verdict: "load (PIL/ImageFile.py:245)". Empty if no site grew.
std::string growth_place(const HeapProfile& profile);

// "python3 (pid 4242)", "all processes".
std::string profiled_process(const HeapProfile& profile);

// For other people's viewers: every site as a stack, outermost call first. Requires: made by stack.
ExportProfile export_of(const HeapProfile& profile, const HeapTrack& track);

// One line; docs/report-fields.md explains each key. `rss` is JSON for the key of that name; empty:
// null.
std::string profile_json(const HeapProfile& profile, std::string_view rss = "");

}  // namespace plateau
