// SPDX-License-Identifier: Apache-2.0
// The profile as a list of sites: what grows first, each with its rate, its word, why, and stack.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "profile/stack_view.h"
#include "report/profile_view.h"
#include "words/phrases.h"
#include "words/site_words.h"

namespace plateau {
namespace {

constexpr size_t kIndent = 5;
constexpr size_t kWidestProse = 110;
constexpr size_t kMostFrames = 10;
constexpr size_t kMostPython = 4;  // Of those.
constexpr size_t kMostCounts = 5;
constexpr size_t kMostNotes = 6;

Ink growth_ink(GrowthWord word) {
  switch (word) {
    case GrowthWord::unbounded:
      return Ink::red;
    case GrowthWord::undecided:
      return Ink::yellow;
    case GrowthWord::filling:
      return Ink::cyan;
    case GrowthWord::grown:
    case GrowthWord::one_off:
      return Ink::blue;
    default:
      return Ink::plain;
  }
}

std::string upper(std::string_view name) {
  std::string text(name);
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

// "+1.20 MB/step (1.10–1.30 MB/step)" without saying the unit twice.
std::string rate_words(Clock clock, const SiteVerdict& verdict) {
  return fmt::format("{} ({})", rate_phrase(clock, verdict.rate_mb_per_step),
                     rate_range_phrase(clock, verdict.rate_range));
}

bool has_rate(const SiteVerdict& verdict) {
  return is_growing(verdict) || verdict.word == GrowthWord::grown;
}

class List {
 public:
  List(const HeapProfile& profile, const View& view, const ListLooks& looks)
      : profile_(profile), view_(view), looks_(looks) {}

  std::string text() {
    headline();
    process();
    sites();
    counts("Tensors", profile_.tensors);
    counts("Python types", profile_.types);
    notes();
    return view_.utf8 ? std::move(text_) : to_ascii(text_);
  }

  std::string line() {
    headline();
    return view_.utf8 ? std::move(text_) : to_ascii(text_);
  }

 private:
  void headline() {
    const ProfileSite* site = growth_site(profile_);
    if (site == nullptr) {
      const bool undecided =
          std::any_of(profile_.sites.begin(), profile_.sites.end(),
                      [](const ProfileSite& s) { return s.verdict.word == GrowthWord::undecided; });
      say_word(undecided ? GrowthWord::undecided : GrowthWord::level,
               undecided ? "too few rows to tell what grows" : "no call stack grows");
      return;
    }
    const SiteVerdict& verdict = site->verdict;
    std::string text = (is_growing(verdict) ? "grows at " : "grew at ") + site->title;
    if (is_growing(verdict)) {
      text += " · " + rate_phrase(profile_.clock, verdict.rate_mb_per_step);
    } else {
      const bool level = verdict.word == GrowthWord::grown || verdict.word == GrowthWord::one_off;
      text += " · " + format_mb_signed(site->growth_mb()) + (level ? ", level now" : "");
    }
    if (verdict.confidence > 0) text += " · " + percent_phrase(verdict.confidence);
    say_word(verdict.word, text);
  }

  // What was lost stands in the first line, whatever it says.
  void say_word(GrowthWord word, std::string text) {
    const std::string loss = loss_words(profile_.dropped_allocs, profile_.dropped_frees,
                                        profile_.heap_totals.allocated_blocks);
    if (!loss.empty()) text = loss + " · " + text;
    const std::string name = pad_right(upper(growth_word_name(word)), 9);
    const std::vector<std::string> lines = wrap(text, prose(10));
    text_ += paint(view_, growth_ink(word), name) + " " + lines.front() + "\n";
    for (size_t i = 1; i < lines.size(); ++i) text_ += std::string(10, ' ') + lines[i] + "\n";
  }

  [[nodiscard]] size_t prose(size_t indent) const {
    const size_t width = std::min(view_.width, kWidestProse);
    return width > indent + 20 ? width - indent : 20;
  }

  void paragraph(size_t indent, const std::string& text, Ink ink = Ink::plain) {
    for (const std::string& line : wrap(text, prose(indent))) {
      text_ += std::string(indent, ' ') + paint(view_, ink, line) + "\n";
    }
  }

  void process() {
    const std::string how =
        profile_.exact ? (profile_.dropped_allocs + profile_.dropped_frees > 0
                              ? "every block that could be recorded"
                              : "every block")
                       : fmt::format("a sample per {:.0f} KiB", profile_.interval_bytes / 1024);
    paragraph(2, fmt::format("Heap of {}: {} over {}; {}{}", profiled_process(profile_),
                             from_to_phrase(profile_.from_mb, profile_.to_mb),
                             span_phrase(profile_.clock, profile_.from, profile_.to), how,
                             profile_.allocator.empty() ? "" : ", " + profile_.allocator));
  }

  [[nodiscard]] bool listed(const ProfileSite& site) const {
    if (looks_.all) return true;
    if (profile_.compares) return site.to_mb != site.from_mb;
    return site_grew(profile_, site);
  }

  void sites() {
    size_t shown = 0, more = 0, rest = 0;
    double rest_mb = 0;
    for (const ProfileSite& site : profile_.sites) {
      if (!listed(site)) {
        ++rest;
        rest_mb += site.to_mb;
      } else if (shown < looks_.top) {
        text_ += '\n';
        entry(++shown, site);
      } else {
        ++more;
      }
    }
    if (more + rest == 0) return;
    text_ += '\n';
    if (more > 0) paragraph(2, fmt::format("and {} more; --top {} shows them", more, shown + more));
    if (rest > 0) {
      paragraph(2, fmt::format("{} {} {} and did not {}; --show all lists {}", rest,
                               rest == 1 ? "site holds" : "sites hold", format_mb(rest_mb),
                               profile_.compares ? "change" : "grow", rest == 1 ? "it" : "them"));
    }
  }

  void entry(size_t number, const ProfileSite& site) {
    const SiteVerdict& verdict = site.verdict;
    std::vector<std::string> facts;
    if (profile_.compares) {
      facts.push_back(fmt::format("{} ({})", format_mb_signed(site.to_mb - site.from_mb),
                                  from_to_phrase(site.from_mb, site.to_mb)));
    } else {
      facts.push_back(format_mb_signed(site.growth_mb()));
      if (has_rate(verdict)) facts.push_back(rate_words(profile_.clock, verdict));
      facts.push_back(amount(verdict, site));
    }
    facts.push_back(blocks(verdict));
    if (verdict.median_age_steps >= 1) {
      facts.push_back("age " + length_phrase(profile_.clock, verdict.median_age_steps));
    }
    if (site.kinds != "heap") facts.push_back(site.kinds);
    std::erase(facts, "");
    const std::string word = pad_right(growth_word_name(verdict.word), 9);
    const std::vector<std::string> lines =
        wrap(fmt::format("{}", fmt::join(facts, " · ")), prose(kIndent + 11));
    text_ += fmt::format("{:>3}  {}  {}\n", number, paint(view_, growth_ink(verdict.word), word),
                         lines.front());
    for (size_t i = 1; i < lines.size(); ++i) {
      text_ += std::string(kIndent + 11, ' ') + lines[i] + "\n";
    }
    stack(site);
    paragraph(kIndent, site_words(verdict), Ink::dim);
  }

  static std::string amount(const SiteVerdict& verdict, const ProfileSite& site) {
    std::string text = format_mb(verdict.live_mb) + " alive";
    if (verdict.error_mb > 0.005 * verdict.live_mb) {
      text += fmt::format(" ± {}", format_mb(verdict.error_mb));
    }
    if (verdict.word == GrowthWord::churn) {
      text += fmt::format(" of {} allocated", format_mb(site.allocated_mb));
    }
    return text;
  }

  static std::string blocks(const SiteVerdict& verdict) {
    const int64_t count = std::llround(verdict.blocks);
    if (count <= 0) return "";
    return fmt::format("{} {}", format_count(count), count == 1 ? "block" : "blocks");
  }

  void stack(const ProfileSite& site) {
    if (site.frames.empty()) {
      paragraph(kIndent, site.title, Ink::bold);
      return;
    }
    const std::vector<bool> shown = shown_frames(site.frames);
    size_t hidden = 0;
    for (size_t i = 0; i <= site.frames.size(); ++i) {
      const bool here = i < site.frames.size() && shown[i];
      if (hidden > 0 && (here || i == site.frames.size())) {
        text_ +=
            fmt::format("{}<- {} more; --full shows them\n", std::string(kIndent + 2, ' '), hidden);
        hidden = 0;
      }
      if (here) frame(i, site.frames[i]);
      if (i < site.frames.size() && !here) ++hidden;
    }
  }

  // The innermost ones, and of Python the innermost few wherever they are: below a deep library
  // they are what its user wrote.
  [[nodiscard]] std::vector<bool> shown_frames(const std::vector<FrameName>& frames) const {
    if (looks_.full || frames.size() <= kMostFrames) return std::vector<bool>(frames.size(), true);
    std::vector<bool> shown(frames.size(), false);
    size_t left = kMostFrames, python = 0;
    for (size_t i = 0; i < frames.size() && python < kMostPython; ++i) {
      if (frames[i].kind != FrameKind::python) continue;
      shown[i] = true;
      ++python;
      --left;
    }
    for (size_t i = 0; i < frames.size() && left > 0; ++i) {
      if (shown[i]) continue;
      shown[i] = true;
      --left;
    }
    return shown;
  }

  void frame(size_t depth, const FrameName& frame) {
    const size_t indent = depth == 0 ? kIndent : kIndent + 2;
    const std::string words = shorten(frame_words(frame), prose(indent + 3));
    text_ += std::string(indent, ' ') + (depth == 0 ? "" : "<- ") +
             paint(view_, depth == 0 ? Ink::bold : Ink::plain, words) + "\n";
  }

  void counts(const std::string& title, const std::vector<ProfileCount>& list) {
    std::vector<const ProfileCount*> shown;
    for (const ProfileCount& count : list) {
      if (looks_.all || has_grown(count.verdict)) shown.push_back(&count);
    }
    if (shown.empty()) return;
    if (shown.size() > kMostCounts && !looks_.all) shown.resize(kMostCounts);
    text_ += "\n  " + paint(view_, Ink::bold, title) + "\n";
    for (const ProfileCount* each : shown) count_line(*each);
  }

  void count_line(const ProfileCount& count) {
    const SiteVerdict& verdict = count.verdict;
    std::string facts = format_count(std::llround(verdict.live_mb)) + " alive";
    if (has_rate(verdict)) {
      facts = fmt::format("{:+.3g}/{} · {}", verdict.rate_mb_per_step, clock_unit(profile_.clock),
                          facts);
    }
    if (count.mb_each > 0) {
      facts += fmt::format(" · {} · {}", format_mb(verdict.live_mb * count.mb_each),
                           format_mb_signed(verdict.growth_mb * count.mb_each));
    } else {
      facts += fmt::format(" · {}{}", verdict.growth_mb < 0 ? "" : "+",
                           format_count(std::llround(verdict.growth_mb)));
    }
    const std::string word = pad_right(growth_word_name(verdict.word), 9);
    text_ += fmt::format("     {}  {}\n", paint(view_, growth_ink(verdict.word), word),
                         paint(view_, Ink::bold, shorten(count.name, prose(kIndent + 11))));
    paragraph(kIndent + 11, facts);
  }

  void notes() {
    if (profile_.notes.empty()) return;
    text_ += '\n';
    for (size_t i = 0; i < std::min(kMostNotes, profile_.notes.size()); ++i) {
      paragraph(2, "Note: " + profile_.notes[i]);
    }
  }

  const HeapProfile& profile_;
  const View& view_;
  const ListLooks& looks_;
  std::string text_;
};

}  // namespace

std::string render_profile(const HeapProfile& profile, const View& view, const ListLooks& looks) {
  return List(profile, view, looks).text();
}

std::string render_profile_line(const HeapProfile& profile, const View& view) {
  return List(profile, view, {}).line();
}

}  // namespace plateau
