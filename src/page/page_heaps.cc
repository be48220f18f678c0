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

// The word for a reader of the page; only what never ends is called growing.
std::string_view state_of(const SiteVerdict& verdict) {
  return verdict.word == GrowthWord::unbounded ? "growing" : growth_word_name(verdict.word);
}

// On the run's clock: a track counts seconds from the start of the recording, a run from its first
// sample.
class HeapClock {
 public:
  HeapClock(const PageRun& page, const HeapProfile& profile) {
    const Run& run = *page.run;
    const bool both = profile.clock == Clock::seconds && page.signals.clock == Clock::seconds;
    if (both && run.has_times() && !run.heaps.empty()) {
      shift_ = run.heap_start_s - run.instants.front().time_s;
    }
  }
  [[nodiscard]] double at(double step) const { return step + shift_; }

 private:
  double shift_ = 0;
};

// Which sites become stacks of the flame graph, largest first, and where each of them stands.
struct Stacks {
  std::vector<size_t> sites;
  std::vector<std::optional<size_t>> place;  // Per site of the profile.
  double left_out_mb = 0;
  size_t left_out = 0;
};

Stacks choose_stacks(const HeapProfile& profile) {
  const auto weight = [&profile](size_t i) {
    const ProfileSite& site = profile.sites[i];
    return std::max(site.to_mb, std::fabs(site.to_mb - site.from_mb));
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
  std::vector<const std::string*> frames;
  std::vector<std::vector<size_t>> rows;
  for (const size_t i : stacks.sites) {
    std::vector<size_t>& row = rows.emplace_back();
    const std::vector<FrameName>& inner_first = profile.sites[i].frames;
    for (auto frame = inner_first.rbegin(); frame != inner_first.rend(); ++frame) {
      const auto [at, fresh] = index.try_emplace(frame_words(*frame), frames.size());
      if (fresh) frames.push_back(&at->first);
      row.push_back(at->second);
    }
    if (!row.empty()) continue;
    const auto [at, fresh] = index.try_emplace("(no stack)", frames.size());
    if (fresh) frames.push_back(&at->first);
    row.push_back(at->second);
  }
  json.key("frames").begin_array();
  for (const std::string* frame : frames) json.value(*frame);
  json.end_array().key("stacks").begin_array();
  for (size_t i = 0; i < rows.size(); ++i) {
    const ProfileSite& site = profile.sites[stacks.sites[i]];
    json.begin_object().key("frames").begin_array();
    for (const size_t frame : rows[i]) json.value(frame);
    json.end_array().key("mb");
    write_rounded(json, site.to_mb);
    json.key("growth_mb");
    write_rounded(json, site.to_mb - site.from_mb);
    json.end_object();
  }
  json.end_array();
}

void write_sites(JsonWriter& json, const HeapProfile& profile, const Stacks& stacks,
                 const HeapClock& clock) {
  json.key("sites").begin_array();
  for (size_t i = 0; i < std::min(kMostSites, profile.sites.size()); ++i) {
    const ProfileSite& site = profile.sites[i];
    json.begin_object().key("title").value(site.title).key("kinds").value(site.kinds);
    json.key("state").value(state_of(site.verdict)).key("words").value(site_words(site.verdict));
    json.key("from_mb");
    write_rounded(json, site.from_mb);
    json.key("to_mb");
    write_rounded(json, site.to_mb);
    json.key("stack").value(stacks.place[i]).key("x").begin_array();
    for (const TimedValue& point : site.course) write_moment(json, clock.at(point.at));
    json.end_array().key("mb").begin_array();
    for (const TimedValue& point : site.course) write_rounded(json, point.mb);
    json.end_array().end_object();
  }
  json.end_array();
}

void write_counts(JsonWriter& json, std::string_view key, const std::vector<ProfileCount>& counts) {
  json.key(key).begin_array();
  for (size_t i = 0; i < std::min(kMostCounts, counts.size()); ++i) {
    const ProfileCount& count = counts[i];
    json.begin_object().key("name").value(count.name);
    json.key("state").value(state_of(count.verdict)).key("words").value(site_words(count.verdict));
    json.key("from");
    write_rounded(json, count.verdict.live_mb - count.verdict.growth_mb);
    json.key("to");
    write_rounded(json, count.verdict.live_mb);
    json.key("mb_each");
    write_rounded(json, count.mb_each > 0 ? count.mb_each : kMissing);
    json.end_object();
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
  const HeapClock clock(page, profile);
  json.begin_object().key("pid").value(profile.pid);
  json.key("process").value(profile.pid == 0 ? "all processes" : profile.process);
  json.key("exact").value(profile.exact).key("interval_bytes");
  write_rounded(json, profile.interval_bytes);
  json.key("allocator");
  write_text(json, profile.allocator);
  json.key("from");
  write_moment(json, clock.at(profile.from));
  json.key("to");
  write_moment(json, clock.at(profile.to));
  json.key("from_mb");
  write_rounded(json, profile.from_mb);
  json.key("to_mb");
  write_rounded(json, profile.to_mb);
  json.key("others_mb");
  write_rounded(json, profile.others_mb + stacks.left_out_mb);
  write_stacks(json, profile, stacks);
  write_sites(json, profile, stacks, clock);
  write_counts(json, "tensors", profile.tensors);
  write_counts(json, "types", profile.types);
  json.key("notes").begin_array();
  for (const std::string& note : notes_of(page, profile, stacks)) json.value(note);
  json.end_array().end_object();
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
