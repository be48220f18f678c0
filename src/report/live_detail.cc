// SPDX-License-Identifier: Apache-2.0
// One process of the job in full: a page of labels in a margin, with sentences or figures beside
// them.
#include <fmt/format.h>

#include <utility>

#include "report/live_parts.h"
#include "words/paragraphs.h"
#include "words/phrases.h"
#include "words/verdict_words.h"

namespace plateau {
namespace {

constexpr size_t kMargin = 10;
constexpr size_t kNameWidth = 9;
constexpr size_t kValueWidth = 9;
constexpr size_t kGap = 3;

using Figures = std::vector<std::pair<std::string_view, std::string>>;

class DetailPage {
 public:
  explicit DetailPage(const View& view)
      : view_(view), room_(view.width > kMargin ? view.width - kMargin : 1) {}

  void title(const std::string& text) { rows_.push_back({ink(view_, Ink::bold, text), 0, 0}); }

  // Nothing if the text is empty.
  void say(std::string_view label, const std::string& text) {
    if (text.empty()) return;
    for (const std::string& line : wrap(view_.utf8 ? text : to_ascii(text), room_)) {
      row(std::exchange(label, ""), line);
    }
  }

  // Side by side as far as there is room.
  void figures(std::string_view label, const Figures& list) {
    std::string text;
    for (const auto& [name, value] : list) {
      if (display_width(text) + kNameWidth + kValueWidth + kGap > room_) {
        row(std::exchange(label, ""), std::exchange(text, ""));
      }
      text += pad_right(name, kNameWidth) + pad_left(value, kValueWidth) + std::string(kGap, ' ');
    }
    row(label, text);
  }

  std::vector<LiveRow> take() { return std::move(rows_); }

 private:
  void row(std::string_view label, const std::string& text) {
    rows_.push_back({ink(view_, Ink::dim, pad_right(label, kMargin)) + text, 0, 0});
  }

  const View& view_;
  size_t room_;
  std::vector<LiveRow> rows_;
};

std::string role_text(const LiveProcess& process) {
  const std::string role(process.role == Role::unknown ? "not known" : role_name(process.role));
  return process.role_reason.empty() ? role : role + ": " + process.role_reason;
}

std::string parent_text(const LiveState& state, const LiveProcess& process) {
  for (const LiveProcess& other : state.processes) {
    if (process.parent >= 0 && other.pid == process.parent) {
      return fmt::format("pid {}  {}", other.pid, other.name);
    }
  }
  return "";
}

std::string growth_text(const LiveState& state, const LiveProcess& process) {
  std::string growth = signed_amount(process.growth_mb) + " of owned memory since first seen";
  if (!state.verdict) return growth;
  for (const ProcessGrowth& other : state.verdict->processes) {
    if (other.id_is_pid && other.id == process.pid) {
      return fmt::format("{}; {} of the tree's growth", growth, percent_phrase(other.share));
    }
  }
  return growth;
}

// The verdict's causes are about the process that it names.
void say_causes(const LiveState& state, const LiveProcess& process, DetailPage& page) {
  if (!state.verdict || !state.verdict->process) return;
  const ProcessGrowth& named = *state.verdict->process;
  if (!named.id_is_pid || named.id != process.pid) return;
  std::string_view label = "Why";
  for (const Cause& cause : state.verdict->causes) {
    page.say(std::exchange(label, "Or"), plain(cause_paragraph(cause, *state.verdict)));
  }
}

}  // namespace

std::vector<LiveRow> detail_rows(const LiveState& state, const LiveProcess& process,
                                 const View& view) {
  DetailPage page(view);
  page.title(
      fmt::format("pid {}  {}{}", process.pid, process.name, process.alive ? "" : "  (ended)"));
  page.say("Role", role_text(process));
  page.say("Parent", parent_text(state, process));
  page.say("Growth", growth_text(state, process));
  page.figures("Memory", {{"owned", amount(process.owned_mb)}, {"RSS", amount(process.rss_mb)}});
  page.figures("", {{"PSS", amount(process.pss_mb)}, {"USS", amount(process.uss_mb)}});
  page.figures("", {{"file", amount(process.file_mb)}, {"shared", amount(process.shmem_mb)}});
  page.figures("", {{"swap", amount(process.swap_mb)}, {"GPU", amount(process.gpu_mb)}});
  const std::string cpu = percent_text(process.cpu_percent);
  page.figures("Activity",
               {{"CPU", cpu == "-" ? cpu : cpu + " %"}, {"threads", count_text(process.threads)}});
  page.figures("", {{"files", count_text(process.fds)}});
  say_causes(state, process, page);
  return page.take();
}

}  // namespace plateau
