// SPDX-License-Identifier: Apache-2.0
// Three more ways to look at a heap: what was alive when it was largest, what was made for a moment
// only, and what surrounds one function.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/units.h"
#include "profile/stack_view.h"
#include "report/profile_view.h"
#include "words/phrases.h"

namespace plateau {
namespace {

constexpr size_t kColumns = 19;  // Before a title.

std::string percent_of(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "";
}

std::string finished(const View& view, std::string text) {
  return view.utf8 ? std::move(text) : to_ascii(text);
}

size_t title_room(const View& view, size_t columns) {
  return view.width > columns + 20 ? view.width - columns : 20;
}

// Sums by the function next to one that is asked about.
struct Neighbours {
  std::map<std::string, double> mb;
  void add(const std::vector<FrameName>& frames, size_t place, bool there, double amount) {
    std::string name = there ? short_function(frames[place]) : "(itself)";
    if (name.empty()) name = frame_words(frames[place]);
    mb[name] += amount;
  }
  [[nodiscard]] std::string lines(const View& view, double whole_mb, size_t top) const {
    std::vector<std::pair<double, std::string>> sorted;
    sorted.reserve(mb.size());
    for (const auto& [name, amount] : mb) sorted.emplace_back(amount, name);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string text;
    for (size_t i = 0; i < std::min(top, sorted.size()); ++i) {
      text += fmt::format("{}  {}  {}\n", pad_left(format_mb(sorted[i].first), 9),
                          pad_left(percent_of(sorted[i].first, whole_mb), 7),
                          shorten(sorted[i].second, title_room(view, kColumns + 1)));
    }
    if (sorted.size() > top) text += fmt::format("  and {} more\n", sorted.size() - top);
    return text;
  }
};

}  // namespace

std::string render_peak(const HeapProfile& profile, const View& view, size_t top) {
  std::string text =
      fmt::format("{} held {} at its peak, at {} {:.6g}\n\n", profiled_process(profile),
                  format_mb(profile.to_mb), clock_unit(profile.clock), profile.to);
  size_t shown = 0, rest = 0;
  double rest_mb = profile.others_mb;
  for (const ProfileSite& site : profile.sites) {
    if (shown == top || site.to_mb <= 0) {
      rest += site.to_mb > 0 ? 1 : 0;
      rest_mb += site.to_mb;
      continue;
    }
    ++shown;
    text += fmt::format("{}  {}  {}\n", pad_left(format_mb(site.to_mb), 9),
                        pad_left(percent_of(site.to_mb, profile.to_mb), 7),
                        shorten(site.title, title_room(view, kColumns + 1)));
  }
  if (rest_mb > 0) {
    text += fmt::format("{}  {}  {} more sites\n", pad_left(format_mb(rest_mb), 9),
                        pad_left(percent_of(rest_mb, profile.to_mb), 7), rest);
  }
  return finished(view, std::move(text));
}

std::string render_temporary(const HeapProfile& profile, const View& view, size_t top) {
  std::vector<const ProfileSite*> sites;
  double all = 0;
  for (const ProfileSite& site : profile.sites) {
    if (site.temporary_blocks >= 1) sites.push_back(&site);
    all += site.allocated_blocks;
  }
  std::stable_sort(sites.begin(), sites.end(), [](const ProfileSite* a, const ProfileSite* b) {
    return a->temporary_blocks > b->temporary_blocks;
  });
  double temporary = 0;
  for (const ProfileSite* site : sites) temporary += site->temporary_blocks;
  std::string text =
      fmt::format("{} of {} blocks ({}) were freed within the {} in which they were made\n\n",
                  format_count(std::llround(temporary)), format_count(std::llround(all)),
                  percent_of(temporary, all), clock_unit(profile.clock));
  for (size_t i = 0; i < std::min(top, sites.size()); ++i) {
    const ProfileSite& site = *sites[i];
    text += fmt::format("{} blocks  {} of its own  {}\n",
                        pad_left(format_count(std::llround(site.temporary_blocks)), 12),
                        pad_left(percent_of(site.temporary_blocks, site.allocated_blocks), 7),
                        shorten(site.title, title_room(view, 43)));
  }
  if (sites.size() > top) text += fmt::format("  and {} more sites\n", sites.size() - top);
  return finished(view, std::move(text));
}

std::string render_around(const HeapProfile& profile, const View& view, const Pattern& wanted,
                          size_t top) {
  Neighbours callers, callees;
  double whole_mb = 0;
  size_t met = 0;
  std::string name;
  for (const ProfileSite& site : profile.sites) {
    const auto found = std::find_if(
        site.frames.begin(), site.frames.end(),
        [&wanted](const FrameName& frame) { return wanted.is_in(short_function(frame)); });
    if (found == site.frames.end()) continue;
    if (met++ == 0) name = short_function(*found);
    whole_mb += site.to_mb;
    const auto place = static_cast<size_t>(found - site.frames.begin());
    callees.add(site.frames, place - 1, place > 0, site.to_mb);
    const bool outer = place + 1 < site.frames.size();
    if (outer) callers.add(site.frames, place + 1, true, site.to_mb);
  }
  if (met == 0) return "no stack has a function of that name\n";
  std::string text = fmt::format("{} and what it calls hold {} of {}\n\n  called by\n", name,
                                 format_mb(whole_mb), format_mb(profile.to_mb));
  text += callers.lines(view, whole_mb, top) + "\n  allocates through\n" +
          callees.lines(view, whole_mb, top);
  return finished(view, std::move(text));
}

}  // namespace plateau
