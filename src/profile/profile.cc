// SPDX-License-Identifier: Apache-2.0
#include "profile/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>

#include "base/printable.h"
#include "base/units.h"
#include "profile/profile_counts.h"
#include "profile/stack_view.h"
#include "verdict/signal.h"
#include "verdict/site_merge.h"

namespace plateau {
namespace {

// Growth of a site by less than either is none; as in verdict/site_growth.cc.
constexpr double kSmallestGrowthMb = 0.05;
constexpr double kSmallestShare = 0.001;
// A leak of less than this share of the largest growth is not what the growth is made of.
constexpr double kWorthLeading = 0.1;
// Mappings that are this share of what is alive are worth a word.
constexpr double kWorthASay = 0.1;

// The parts of a frame that are shown or searched, made harmless.
FrameName printable_frame(FrameName frame) {
  frame.function = printable(frame.function);
  frame.file = printable(frame.file);
  frame.module = printable(frame.module);
  return frame;
}

std::string module_of(const std::vector<FrameName>& frames) {
  if (frames.empty()) return "(no stack)";
  const FrameName& frame = frames.front();
  if (frame.kind != FrameKind::python) return frame.module.empty() ? "(unknown)" : frame.module;
  const std::string file = short_file(frame.file);
  return file.substr(0, file.find('/'));
}

class ProfileMaker {
 public:
  ProfileMaker(const Run& run, const HeapTrack& track, const NameStack& names,
               const ProfileOptions& options)
      : run_(run), track_(track), names_(names), options_(options) {}

  Result<HeapProfile> make() {
    describe_process();
    group_sites();
    const HeapTrack merged = merge_sites(track_, group_);
    const WorkingRows working = working_rows(track_);
    if (std::optional<Error> error = choose_rows(working)) return *error;
    for (SiteVerdict& verdict : judge_sites(merged, run_.context, options_.policy)) {
      add_site(merged, std::move(verdict));
    }
    sort_sites();
    if (options_.courses > 0) add_courses(merged, working);
    for (const ProfileSite& site : profile_.sites) {
      profile_.from_mb += site.from_mb;
      profile_.to_mb += site.to_mb;
      profile_.peak_mb += site.peak_mb;
    }
    add_others();
    profile_.matters_mb = std::max(kSmallestGrowthMb, kSmallestShare * profile_.to_mb);
    add_counts(run_, track_.pid, options_.policy, profile_);
    if (is_over(run_)) forget_what_is_to_come();
    add_notes();
    return std::move(profile_);
  }

 private:
  void describe_process() {
    profile_.file = printable(run_.source);
    profile_.pid = track_.pid;
    for (const Process& process : run_.processes) {
      if (process.id_is_pid && process.id == track_.pid) profile_.process = printable(process.name);
    }
    profile_.exact = track_.exact;
    profile_.interval_bytes = track_.interval_bytes;
    profile_.dropped_allocs = track_.dropped_allocs;
    profile_.dropped_frees = track_.dropped_frees;
    profile_.allocator = printable(track_.allocator);
    profile_.heap_totals = track_.heap_totals;
  }

  // An arena holds Python blocks; where those are sites themselves, it would count them twice.
  [[nodiscard]] bool wanted_kind(HeapKind kind) const {
    if (kind == HeapKind::arena && track_.python_hooked) return false;
    if (!options_.kind) return true;
    return kind == *options_.kind ||
           (kind == HeapKind::arena && *options_.kind == HeapKind::python);
  }

  [[nodiscard]] bool wanted_stack(const std::vector<FrameName>& frames) const {
    const auto found_in = [&frames](const Pattern& wanted) {
      return std::any_of(frames.begin(), frames.end(), [&wanted](const FrameName& frame) {
        return wanted.is_in(frame_words(frame)) || wanted.is_in(frame.file) ||
               wanted.is_in(frame.function);
      });
    };
    if (options_.filter && !found_in(*options_.filter)) return false;
    return !options_.exclude || !found_in(*options_.exclude);
  }

  [[nodiscard]] std::string key_of(const std::vector<FrameName>& shown, HeapKind kind) const {
    switch (options_.by) {
      case ProfileBy::function:
        return shown.empty() ? "" : frame_key(shown.front(), false);
      case ProfileBy::module:
        return module_of(shown);
      case ProfileBy::kind:
        return std::string(heap_kind_name(kind));
      case ProfileBy::stack:
        break;
    }
    std::string key;
    for (const FrameName& frame : shown) key += frame_key(frame, true) + "\n\n";
    return key;
  }

  void group_sites() {
    std::map<std::string, uint32_t> groups;
    frames_of_stack_.resize(track_.stacks.size());
    for (const HeapSite& site : track_.sites) {
      group_.push_back(kLeftOut);
      if (!wanted_kind(site.kind)) continue;
      std::vector<FrameName> frames;
      for (FrameName& frame : names_(track_.stacks[site.stack])) {
        frames.push_back(printable_frame(std::move(frame)));
      }
      if (!wanted_stack(frames)) continue;
      std::vector<FrameName> shown = options_.full ? frames : visible_frames(frames);
      const auto [place, fresh] =
          groups.try_emplace(key_of(shown, site.kind), static_cast<uint32_t>(groups.size()));
      group_.back() = place->second;
      if (fresh) {
        kinds_.emplace_back();
        stacks_.emplace_back(0);
      }
      kinds_[place->second].insert(site.kind);
      ++stacks_[place->second];
      frames_of_stack_[site.stack] = std::move(shown);
    }
  }

  std::optional<Error> choose_rows(const WorkingRows& working) {
    profile_.clock = working.clock;
    if (working.rows.empty()) {
      return Error{Error::Kind::no_samples, "the heap of this process has no rows"};
    }
    find_peak(working);
    if (options_.at_peak) {
      profile_.from = working.at.front();
      profile_.from_row = working.rows.front();
      profile_.to = profile_.peak;
      profile_.to_row = profile_.peak_row;
      return std::nullopt;
    }
    profile_.compares = options_.from_step || options_.to_step;
    const double from = options_.from_step.value_or(working.at.front());
    const double to = options_.to_step.value_or(working.at.back());
    const auto first = std::lower_bound(working.at.begin(), working.at.end(), from);
    const auto last = std::upper_bound(working.at.begin(), working.at.end(), to);
    if (first == working.at.end() || last == working.at.begin() || from > to || first >= last) {
      return Error{
          Error::Kind::no_samples,
          fmt::format("no row between {0} {1} and {2}: the heap was followed from {0} {3} "
                      "to {4}",
                      clock_unit(working.clock), from, to, working.at.front(), working.at.back())};
    }
    const auto first_index = static_cast<size_t>(first - working.at.begin());
    const auto last_index = static_cast<size_t>(last - working.at.begin()) - 1;
    profile_.from = working.at[first_index];
    profile_.to = working.at[last_index];
    profile_.from_row = working.rows[first_index];
    profile_.to_row = working.rows[last_index];
    return std::nullopt;
  }

  // Among the rows that count, the largest sum of what is asked for.
  void find_peak(const WorkingRows& working) {
    double most = -1;
    for (size_t i = 0; i < working.rows.size(); ++i) {
      double bytes = others_mb(working.rows[i]) * kBytesPerMb;
      for (const HeapCell& cell : track_.rows[working.rows[i]].cells) {
        if (group_[cell.site] != kLeftOut) bytes += cell.live_bytes;
      }
      if (bytes <= most) continue;
      most = bytes;
      profile_.peak = working.at[i];
      profile_.peak_row = working.rows[i];
    }
  }

  static double live_mb(const HeapTrack& track, size_t row, size_t site) {
    for (const HeapCell& cell : track.rows[row].cells) {
      if (cell.site == site) return cell.live_bytes / kBytesPerMb;
    }
    return 0;
  }

  void add_site(const HeapTrack& merged, SiteVerdict verdict) {
    const HeapSite& sum = merged.sites[verdict.site];
    ProfileSite site;
    site.frames = frames_of_stack_[sum.stack];
    for (const HeapKind kind : kinds_[verdict.site]) {
      site.kinds += (site.kinds.empty() ? "" : " + ") + std::string(heap_kind_name(kind));
    }
    site.stacks = stacks_[verdict.site];
    site.from_mb = live_mb(merged, profile_.from_row, verdict.site);
    site.to_mb = live_mb(merged, profile_.to_row, verdict.site);
    site.peak_mb = live_mb(merged, profile_.peak_row, verdict.site);
    site.allocated_mb = sum.allocated_bytes / kBytesPerMb;
    site.freed_mb = sum.freed_bytes / kBytesPerMb;
    site.allocated_blocks = sum.allocated_blocks;
    site.temporary_blocks = sum.freed_age[0];
    switch (options_.by) {
      case ProfileBy::stack:
        site.title = site_title(site.frames);
        break;
      case ProfileBy::function:
        if (site.frames.size() > 1) site.frames.resize(1);
        if (!site.frames.empty()) site.frames.front().line = 0;
        site.title = site.frames.empty() ? "(no stack)" : frame_words(site.frames.front());
        break;
      case ProfileBy::module:
        site.title = module_of(site.frames);
        site.frames.clear();
        break;
      case ProfileBy::kind:
        site.title = site.kinds;
        site.frames.clear();
        break;
    }
    site.verdict = std::move(verdict);
    profile_.sites.push_back(std::move(site));
  }

  void sort_sites() {
    const auto rank = [this](const ProfileSite& site) {
      if (options_.at_peak) return site.to_mb;
      return profile_.compares ? std::fabs(site.growth_mb()) : site.growth_mb();
    };
    std::stable_sort(profile_.sites.begin(), profile_.sites.end(),
                     [&rank](const ProfileSite& a, const ProfileSite& b) {
                       return rank(a) != rank(b) ? rank(a) > rank(b) : a.to_mb > b.to_mb;
                     });
  }

  // Of several rows at one clock value the last counts.
  void add_courses(const HeapTrack& merged, const WorkingRows& working) {
    const std::span<ProfileSite> followed(profile_.sites.data(),
                                          std::min(options_.courses, profile_.sites.size()));
    std::vector<ProfileSite*> by_group(merged.sites.size(), nullptr);
    for (ProfileSite& site : followed) by_group[site.verdict.site] = &site;
    for (size_t i = 0; i < working.rows.size(); ++i) {
      if (i + 1 < working.rows.size() && working.at[i + 1] == working.at[i]) continue;
      for (ProfileSite& site : followed) site.course.push_back({working.at[i], 0});
      for (const HeapCell& cell : merged.rows[working.rows[i]].cells) {
        if (by_group[cell.site] == nullptr) continue;
        by_group[cell.site]->course.back().mb += cell.live_bytes / kBytesPerMb;
      }
    }
  }

  // Of a job that has ended nothing more will be known.
  void forget_what_is_to_come() {
    const auto forget = [](SiteVerdict& verdict) {
      std::erase_if(verdict.why.numbers,
                    [](const Number& number) { return number.name == "decides_at_step"; });
    };
    for (ProfileSite& site : profile_.sites) forget(site.verdict);
    for (ProfileCount& count : profile_.tensors) forget(count.verdict);
    for (ProfileCount& count : profile_.types) forget(count.verdict);
  }

  // Folded sites have no stack and no kind; they count only where everything is asked for.
  [[nodiscard]] double others_mb(size_t row) const {
    const bool everything = !options_.kind && !options_.filter && !options_.exclude;
    return everything ? track_.rows[row].others_bytes / kBytesPerMb : 0;
  }

  void add_others() {
    profile_.others_mb = others_mb(profile_.to_row);
    profile_.from_mb += others_mb(profile_.from_row);
    profile_.to_mb += profile_.others_mb;
    profile_.peak_mb += others_mb(profile_.peak_row);
  }

  [[nodiscard]] double mapped_at_end_mb() const {
    double mb = 0;
    for (const HeapCell& cell : track_.rows[profile_.to_row].cells) {
      const HeapKind kind = track_.sites[cell.site].kind;
      if (group_[cell.site] != kLeftOut &&
          (kind == HeapKind::mapping || kind == HeapKind::shared)) {
        mb += cell.live_bytes / kBytesPerMb;
      }
    }
    return mb;
  }

  void add_notes() {
    if (track_.folded_sites > 0 && track_.folded_max_bytes >= 1) {
      profile_.notes.push_back(
          fmt::format("{} small sites were folded into one; each held at most {}",
                      format_count(static_cast<int64_t>(track_.folded_sites)),
                      format_mb(track_.folded_max_bytes / kBytesPerMb)));
    }
    if (const double mapped_mb = mapped_at_end_mb(); mapped_mb > kWorthASay * profile_.to_mb) {
      profile_.notes.push_back(
          fmt::format("{} of what is alive are mappings (mmap), which count whole, touched or not",
                      format_mb(mapped_mb)));
    }
    if (track_.python_minor > 0 && !track_.python_hooked) {
      profile_.notes.emplace_back(
          "small Python objects were not traced; they show as the arenas that hold them");
    }
  }

  const Run& run_;
  const HeapTrack& track_;
  const NameStack& names_;
  const ProfileOptions& options_;
  HeapProfile profile_;
  std::vector<uint32_t> group_;                          // Per site of the track.
  std::vector<std::vector<FrameName>> frames_of_stack_;  // Per stack of the track.
  std::vector<std::set<HeapKind>> kinds_;                // Per group.
  std::vector<size_t> stacks_;                           // Per group.
};

}  // namespace

Result<HeapProfile> make_profile(const Run& run, const HeapTrack& track, const NameStack& names,
                                 const ProfileOptions& options) {
  return ProfileMaker(run, track, names, options).make();
}

Result<HeapProfile> profile_heap(const Run& run, const HeapTrack& track,
                                 const ProfileOptions& options) {
  StackNames names(track);
  Result<HeapProfile> profile = make_profile(
      run, track, [&names](const HeapStack& stack) { return names.frames(stack); }, options);
  if (!profile) return profile;
  for (const std::string& note : names.notes()) profile.value().notes.push_back(printable(note));
  return profile;
}

std::string profiled_process(const HeapProfile& profile) {
  if (profile.pid == 0) return "all processes";
  if (profile.pid < 0) return fmt::format("GPU {}", device_of_pid(profile.pid));
  return fmt::format("{} (pid {})", profile.process.empty() ? "process" : profile.process,
                     profile.pid);
}

bool site_grew(const HeapProfile& profile, const ProfileSite& site) {
  return site.growth_mb() >= profile.matters_mb ||
         (has_grown(site.verdict) && site.growth_mb() > 0);
}

const ProfileSite* growth_site(const HeapProfile& profile) {
  const ProfileSite* largest = nullptr;
  for (const ProfileSite& site : profile.sites) {
    if (!site_grew(profile, site)) continue;
    if (largest == nullptr || site.growth_mb() > largest->growth_mb()) largest = &site;
  }
  if (profile.compares) return largest;
  // What goes on growing leads before what came once: surely without end, then with an end, then
  // open.
  const auto rank = [](GrowthWord word) {
    return word == GrowthWord::unbounded   ? 1
           : word == GrowthWord::filling   ? 2
           : word == GrowthWord::undecided ? 3
                                           : 4;
  };
  const ProfileSite* going_on = nullptr;
  for (const ProfileSite& site : profile.sites) {
    const int of_site = rank(site.verdict.word);
    if (of_site > 3 || !site_grew(profile, site)) continue;
    if (largest == nullptr || site.growth_mb() < kWorthLeading * largest->growth_mb()) continue;
    if (going_on == nullptr || of_site < rank(going_on->verdict.word)) going_on = &site;
  }
  return going_on != nullptr ? going_on : largest;
}

ExportProfile export_of(const HeapProfile& profile, const HeapTrack& track) {
  ExportProfile out;
  out.name = profile.file + ", " + profiled_process(profile);
  out.modules = track.modules;
  out.interval_bytes = profile.exact ? 0 : profile.interval_bytes;
  for (const ProfileSite& site : profile.sites) {
    ExportStack stack;
    stack.frames.assign(site.frames.rbegin(), site.frames.rend());
    if (stack.frames.empty()) stack.frames.push_back({.function = "(no stack)"});
    stack.bytes = site.to_mb * kBytesPerMb;
    stack.blocks = site.verdict.blocks;
    stack.growth_bytes = (site.to_mb - site.from_mb) * kBytesPerMb;
    out.stacks.push_back(std::move(stack));
  }
  return out;
}

std::string growth_place(const HeapProfile& profile) {
  const ProfileSite* site = growth_site(profile);
  return site == nullptr ? "" : site_place(site->frames);
}

}  // namespace plateau
