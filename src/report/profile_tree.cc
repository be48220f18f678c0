// SPDX-License-Identifier: Apache-2.0
// Where memory is, by function and as a tree of calls.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "base/units.h"
#include "profile/stack_view.h"
#include "report/profile_view.h"
#include "words/phrases.h"

namespace plateau {
namespace {

// A call that holds less than this share, and grew by less, is summed up instead of shown.
constexpr double kWorthALine = 0.01;
// Deeper calls are indented no further.
constexpr size_t kDeepest = 24;
constexpr size_t kColumns = 22;  // Of live and growth, with their spaces.

struct Amounts {
  double live_mb = 0;
  double growth_mb = 0;
  void add(const ProfileSite& site) {
    live_mb += site.to_mb;
    growth_mb += site.to_mb - site.from_mb;
  }
};

// Sites without frames stand under this name.
FrameName nowhere() {
  return {.kind = FrameKind::native, .function = "(no stack)"};
}

std::vector<FrameName> frames_of(const ProfileSite& site) {
  return site.frames.empty() ? std::vector<FrameName>{nowhere()} : site.frames;
}

// A function, whichever of its lines allocates.
std::string function_words(FrameName frame) {
  if (!frame.function.empty()) frame.line = 0;
  return frame_words(frame);
}

std::string amount_columns(const Amounts& amounts) {
  return pad_left(format_mb(amounts.live_mb), 9) + "  " +
         pad_left(format_mb_signed(amounts.growth_mb), 9) + "  ";
}

struct FlatLine {
  std::string name;
  Amounts self;
  Amounts total;
};

std::vector<FlatLine> flat_lines(const HeapProfile& profile) {
  std::map<std::string, FlatLine> lines;
  for (const ProfileSite& site : profile.sites) {
    std::set<std::string> met;  // Recursion counts once.
    const std::vector<FrameName> frames = frames_of(site);
    for (size_t i = 0; i < frames.size(); ++i) {
      const std::string key = frame_key(frames[i], false);
      FlatLine& line = lines[key];
      if (line.name.empty()) line.name = function_words(frames[i]);
      if (i == 0) line.self.add(site);
      if (met.insert(key).second) line.total.add(site);
    }
  }
  std::vector<FlatLine> sorted;
  sorted.reserve(lines.size());
  for (auto& [key, line] : lines) sorted.push_back(std::move(line));
  std::stable_sort(sorted.begin(), sorted.end(), [](const FlatLine& a, const FlatLine& b) {
    if (a.self.growth_mb != b.self.growth_mb) return a.self.growth_mb > b.self.growth_mb;
    if (a.self.live_mb != b.self.live_mb) return a.self.live_mb > b.self.live_mb;
    return a.total.live_mb > b.total.live_mb;
  });
  return sorted;
}

struct CallNode {
  std::string name;
  Amounts amounts;
  std::map<std::string, std::unique_ptr<CallNode>> calls;
};

void grow_tree(const HeapProfile& profile, bool inverted, CallNode& root) {
  for (const ProfileSite& site : profile.sites) {
    std::vector<FrameName> frames = frames_of(site);
    if (!inverted) std::reverse(frames.begin(), frames.end());
    root.amounts.add(site);
    CallNode* node = &root;
    for (const FrameName& frame : frames) {
      std::unique_ptr<CallNode>& next = node->calls[frame_key(frame, true)];
      if (!next) {
        next = std::make_unique<CallNode>();
        next->name = frame_words(frame);
      }
      next->amounts.add(site);
      node = next.get();
    }
  }
}

class TreeText {
 public:
  TreeText(const View& view, const Amounts& whole) : view_(view), whole_(whole) {}

  void add(const CallNode& node, size_t depth) {
    std::vector<const CallNode*> calls;
    Amounts rest;
    size_t left_out = 0;
    for (const auto& [key, call] : node.calls) {
      if (matters(call->amounts)) {
        calls.push_back(call.get());
      } else {
        ++left_out;
        rest.live_mb += call->amounts.live_mb;
        rest.growth_mb += call->amounts.growth_mb;
      }
    }
    std::stable_sort(calls.begin(), calls.end(), [](const CallNode* a, const CallNode* b) {
      if (a->amounts.growth_mb != b->amounts.growth_mb) {
        return a->amounts.growth_mb > b->amounts.growth_mb;
      }
      return a->amounts.live_mb > b->amounts.live_mb;
    });
    for (const CallNode* call : calls) {
      line(call->amounts, depth, call->name);
      add(*call, depth + 1);
    }
    if (left_out > 0 && matters(rest)) {
      line(rest, depth, fmt::format("({} small {})", left_out, left_out == 1 ? "call" : "calls"));
    }
  }

  std::string take() { return std::move(text_); }

 private:
  [[nodiscard]] bool matters(const Amounts& amounts) const {
    return amounts.live_mb >= kWorthALine * whole_.live_mb ||
           std::fabs(amounts.growth_mb) >= kWorthALine * std::fabs(whole_.growth_mb);
  }

  void line(const Amounts& amounts, size_t depth, const std::string& name) {
    const size_t indent = std::min(depth, kDeepest);
    const size_t room = view_.width > kColumns + indent + 10 ? view_.width - kColumns - indent : 10;
    text_ += amount_columns(amounts) + std::string(indent, ' ') + shorten(name, room) + "\n";
  }

  const View& view_;
  const Amounts& whole_;
  std::string text_;
};

std::string title_line(const HeapProfile& profile, const View& view) {
  return wrapped(fmt::format("Heap of {}: {} over {}", profiled_process(profile),
                             from_to_phrase(profile.from_mb, profile.to_mb),
                             span_phrase(profile.clock, profile.from, profile.to)),
                 view.width) +
         "\n";
}

std::string finished(const View& view, const std::string& text) {
  return view.utf8 ? text : to_ascii(text);
}

}  // namespace

std::string render_flat(const HeapProfile& profile, const View& view, size_t top) {
  const std::vector<FlatLine> lines = flat_lines(profile);
  std::string text = title_line(profile, view);
  text += paint(view, Ink::bold, "     self     growth      total     growth  function") + "\n";
  const size_t room = view.width > 2 * kColumns + 10 ? view.width - 2 * kColumns : 10;
  for (size_t i = 0; i < std::min(top, lines.size()); ++i) {
    text += amount_columns(lines[i].self) + amount_columns(lines[i].total) +
            shorten(lines[i].name, room) + "\n";
  }
  if (lines.size() > top) {
    text += fmt::format("and {} more; --top {} shows them\n", lines.size() - top, lines.size());
  }
  return finished(view, text);
}

std::string render_tree(const HeapProfile& profile, const View& view, bool inverted) {
  CallNode root;
  grow_tree(profile, inverted, root);
  TreeText tree(view, root.amounts);
  tree.add(root, 0);
  std::string text = title_line(profile, view);
  text += paint(view, Ink::bold,
                inverted ? "    alive     growth  allocating call, then its callers"
                         : "    alive     growth  outermost call, then what it calls") +
          "\n";
  return finished(view, text + tree.take());
}

}  // namespace plateau
