// SPDX-License-Identifier: Apache-2.0
// What grows inside: call stacks for a flame graph, sites with their course, objects and tensors.
//
// Bounded: of more stacks than a picture can show, those that hold or grew least are summed into
// `others_mb`, and a note says so.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/units.h"
#include "page/page_numbers.h"
#include "page/page_run.h"
#include "profile/stack_view.h"
#include "report/text.h"

#include "words/site_words.h"

namespace plateau {
namespace {

constexpr size_t kMostStacks = 300;
constexpr size_t kMostSites = kMostCourses;
constexpr size_t kMostCounts = 30;
constexpr double kLeastMb = 1e-9;  // Below what anything alive holds,
constexpr double kLeast = 1e-12;   // and below any share that matters.

// The word for a reader of the page; only what never ends is called growing.
std::string_view state_of(const SiteVerdict& verdict) {
  return verdict.word == GrowthWord::unbounded ? "growing" : growth_word_name(verdict.word);
}

// What to add for the run's clock: a track counts seconds from the start of the recording, a run
// from its first sample.
double clock_shift(const PageRun& page, const HeapProfile& profile) {
  const Run& run = *page.run;
  const bool both = profile.clock == Clock::seconds && page.signals.clock == Clock::seconds;
  if (!both || !run.has_times() || run.heaps.empty()) return 0;
  return run.heap_start_s - run.instants.front().time_s;
}

// Which sites become stacks of the flame graph, largest first, and where each of them stands.
struct Stacks {
  std::vector<size_t> sites;
  std::vector<std::optional<size_t>> place;  // Per site of the profile.
  double left_out_mb = 0;
  size_t left_out = 0;
};

Stacks choose_stacks(const HeapProfile& profile) {
  double all_mb = kLeastMb;
  double all_peak_mb = kLeastMb;
  double all_temporary = 1;
  for (const ProfileSite& site : profile.sites) {
    all_mb += site.to_mb;
    all_peak_mb += site.peak_mb;
    all_temporary += site.temporary_blocks;
  }
  // A share of what is alive or was gained, of the peak, or of the temporary blocks. A site with a
  // course may hold something within a stretch of the run.
  const auto weight = [&](size_t i) {
    const ProfileSite& site = profile.sites[i];
    const double amount = std::max(site.to_mb, std::fabs(site.to_mb - site.from_mb)) / all_mb;
    return std::max({amount, site.peak_mb / all_peak_mb, site.temporary_blocks / all_temporary,
                     i < kMostSites ? kLeast : 0});
  };
  Stacks stacks;
  stacks.sites.resize(profile.sites.size());
  std::iota(stacks.sites.begin(), stacks.sites.end(), size_t{0});
  std::stable_sort(stacks.sites.begin(), stacks.sites.end(),
                   [&weight](size_t a, size_t b) { return weight(a) > weight(b); });
  while (stacks.sites.size() > kMostStacks ||
         (!stacks.sites.empty() && weight(stacks.sites.back()) <= 0)) {
    stacks.left_out_mb += profile.sites[stacks.sites.back()].to_mb;
    if (weight(stacks.sites.back()) > 0) ++stacks.left_out;
    stacks.sites.pop_back();
  }
  stacks.place.resize(profile.sites.size());
  for (size_t i = 0; i < stacks.sites.size(); ++i) stacks.place[stacks.sites[i]] = i;
  return stacks;
}

void write_stacks(JsonWriter& json, const HeapProfile& profile, const Stacks& stacks) {
  std::map<std::string, size_t> index;
  std::vector<std::string> frames;
  std::vector<std::vector<size_t>> rows;
  for (const size_t i : stacks.sites) {
    std::vector<size_t>& row = rows.emplace_back();
    const auto add = [&](const std::string& words) {
      const auto [at, fresh] = index.try_emplace(words, frames.size());
      if (fresh) frames.push_back(words);
      row.push_back(at->second);
    };
    const std::vector<FrameName>& inner_first = profile.sites[i].frames;
    for (auto frame = inner_first.rbegin(); frame != inner_first.rend(); ++frame) {
      add(frame_words(*frame));
    }
    if (row.empty()) add("(no stack)");
  }
  json.members("frames", frames).key("stacks").begin_array();
  for (size_t i = 0; i < rows.size(); ++i) {
    const ProfileSite& site = profile.sites[stacks.sites[i]];
    json.value(json_object("frames", rows[i], "mb", Rounded(site.to_mb), "growth_mb",
                           Rounded(site.to_mb - site.from_mb), "peak_mb", Rounded(site.peak_mb),
                           "blocks", Rounded(site.allocated_blocks), "temporary",
                           Rounded(site.temporary_blocks)));
  }
  json.end_array();
}

void write_sites(JsonWriter& json, const HeapProfile& profile, const Stacks& stacks, double shift) {
  const auto moment = [shift](const TimedValue& point) { return Moment(point.at + shift); };
  const auto amount = [](const TimedValue& point) { return Rounded(point.mb); };
  json.key("sites").begin_array();
  for (size_t i = 0; i < std::min(kMostSites, profile.sites.size()); ++i) {
    const ProfileSite& site = profile.sites[i];
    json.begin_object().members("title", site.title, "kinds", site.kinds);
    json.members("state", state_of(site.verdict), "words", site_words(site.verdict));
    json.members("from_mb", Rounded(site.from_mb), "to_mb", Rounded(site.to_mb));
    json.members("stack", stacks.place[i], "x", json_list(site.course, moment));
    json.members("mb", json_list(site.course, amount)).end_object();
  }
  json.end_array();
}

void write_counts(JsonWriter& json, std::string_view key, std::span<const ProfileCount> counts) {
  json.key(key).begin_array();
  for (const ProfileCount& count : counts.first(std::min(kMostCounts, counts.size()))) {
    const SiteVerdict& verdict = count.verdict;
    json.begin_object().members("name", count.name, "state", state_of(verdict));
    json.members("words", site_words(verdict));
    json.members("from", Rounded(verdict.live_mb - verdict.growth_mb));
    json.members("to", Rounded(verdict.live_mb));
    json.members("mb_each", Rounded(value_if(count.mb_each > 0, count.mb_each))).end_object();
  }
  json.end_array();
}

std::vector<std::string> notes_of(const PageRun& page, const HeapProfile& profile,
                                  const Stacks& stacks) {
  std::vector<std::string> notes = profile.notes;
  if (stacks.left_out > 0) {
    notes.push_back(fmt::format("{} smaller call stacks, {} together, are not shown one by one",
                                format_count(static_cast<int64_t>(stacks.left_out)),
                                format_mb(stacks.left_out_mb)));
  }
  if (profile.sites.size() > kMostSites) {
    notes.push_back(fmt::format("{} of {} sites are listed; 'plateau profile --top' lists more",
                                kMostSites,
                                format_count(static_cast<int64_t>(profile.sites.size()))));
  }
  if (profile.clock != page.signals.clock && !profile.sites.empty()) {
    notes.push_back(
        fmt::format("the heap's moments are counted in {}s", clock_unit(profile.clock)));
  }
  return notes;
}

void write_heap(JsonWriter& json, const PageRun& page, const HeapProfile& profile) {
  const Stacks stacks = choose_stacks(profile);
  const double shift = clock_shift(page, profile);
  json.begin_object().members("pid", profile.pid, "process",
                              profile.pid == 0 ? "all processes" : profile.process);
  json.members("exact", profile.exact, "interval_bytes", Rounded(profile.interval_bytes));
  json.members("allocator", harmless(profile.allocator), "clock", clock_unit(profile.clock));
  json.members("from", Moment(profile.from + shift));
  json.members("to", Moment(profile.to + shift), "from_mb", Rounded(profile.from_mb));
  json.members("to_mb", Rounded(profile.to_mb));
  json.members("peak", Moment(profile.peak + shift), "peak_mb", Rounded(profile.peak_mb));
  json.members("others_mb", Rounded(profile.others_mb + stacks.left_out_mb));
  write_stacks(json, profile, stacks);
  write_sites(json, profile, stacks, shift);
  write_counts(json, "tensors", profile.tensors);
  write_counts(json, "types", profile.types);
  json.members("notes", notes_of(page, profile, stacks)).end_object();
}

}  // namespace

void write_heaps(JsonWriter& json, const PageRun& page) {
  json.key("heaps").begin_array();
  if (page.answer->heap) write_heap(json, page, *page.answer->heap);
  if (page.answer->detail) {
    for (const HeapProfile& profile : page.answer->detail->profiles) {
      write_heap(json, page, profile);
    }
  }
  json.end_array();
}

}  // namespace plateau
