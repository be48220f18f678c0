// SPDX-License-Identifier: Apache-2.0
#include "report/job_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "words/phrases.h"

namespace plateau {
namespace {

constexpr size_t kMostRanks = 8;
constexpr size_t kMostNodes = 6;
constexpr size_t kNodeWidth = 16;

bool is_level(const RankVerdict& rank) {
  return !rank.saves && (rank.word == Word::plateau || rank.word == Word::warming);
}

std::string rank_row(const RankVerdict& rank, Clock clock, const View& view) {
  const std::string word = pad_right(rank.saves ? "saves" : word_name(rank.word), 10);
  std::string row = fmt::format(
      "{} {}{}{}  {}", pad_right(fmt::format("rank {}", rank.rank), 9),
      rank.node.empty() ? "" : pad_right(shorten(rank.node, kNodeWidth), kNodeWidth) + " ",
      paint(view, rank.saves ? Ink::plain : word_ink(rank.word), word),
      pad_left(confidence_phrase(rank.confidence), 8), from_to_phrase(rank.first_mb, rank.last_mb));
  if (!is_level(rank)) row += "  " + rate_phrase(clock, rank.rate_mb_per_step);
  return row;
}

void say_ranks(const Verdict& verdict, const View& view, Layout& layout) {
  const JobVerdict& job = *verdict.job;
  size_t shown = 0;
  size_t level = 0;
  for (const RankVerdict& rank : job.ranks) {
    if (is_level(rank)) {
      ++level;
    } else if (shown++ < kMostRanks) {
      layout.row("Ranks", rank_row(rank, verdict.clock, view));
    }
  }
  if (shown > kMostRanks)
    layout.row("Ranks", fmt::format("and {} more like these", shown - kMostRanks));
  if (level == 0) return;
  if (shown > 0 && level == 1) return layout.row("Ranks", "the other rank is level");
  layout.row("Ranks", fmt::format("{}{} rank{} {} level", shown == 0 ? "all " : "the other ", level,
                                  level == 1 ? "" : "s", level == 1 ? "is" : "are"));
}

void say_nodes(const Verdict& verdict, Layout& layout) {
  std::vector<const NodeVerdict*> nodes;
  nodes.reserve(verdict.job->nodes.size());
  for (const NodeVerdict& node : verdict.job->nodes) nodes.push_back(&node);
  if (nodes.size() < 2) return;
  const auto share = [](const NodeVerdict* node) {
    return node->risk.limit_mb ? node->last_mb / *node->risk.limit_mb : 0;
  };
  std::ranges::stable_sort(nodes, [&](const NodeVerdict* a, const NodeVerdict* b) {
    return std::pair(a->risk.at_step.value_or(HUGE_VAL), -share(a)) <
           std::pair(b->risk.at_step.value_or(HUGE_VAL), -share(b));
  });
  for (size_t i = 0; i < std::min(nodes.size(), kMostNodes); ++i) {
    const NodeVerdict& node = *nodes[i];
    std::string row =
        fmt::format("{} {} rank{}, {}", pad_right(shorten(node.name, kNodeWidth), kNodeWidth),
                    node.ranks, node.ranks == 1 ? "" : "s", format_mb(node.last_mb));
    if (node.risk.limit_mb) row += fmt::format(" of {}", format_mb(*node.risk.limit_mb));
    if (node.risk.at_step) row += ", full at " + moment_phrase(verdict.clock, *node.risk.at_step);
    layout.row("Nodes", row);
  }
  if (nodes.size() > kMostNodes)
    layout.row("Nodes", fmt::format("and {} more", nodes.size() - kMostNodes));
}

}  // namespace

void say_job(const Verdict& verdict, const View& view, Layout& layout) {
  if (verdict.job) {
    say_ranks(verdict, view, layout);
    say_nodes(verdict, layout);
    return;
  }
  if (!verdict.launched || verdict.launched->rank < 0) return;
  const Launched& part = *verdict.launched;
  std::string text = fmt::format("rank {}", part.rank);
  if (part.world > 0) text += fmt::format(" of {}", part.world);
  if (!part.job.empty()) text += fmt::format(", job {}", part.job);
  if (!part.node.empty()) text += fmt::format(", on {}", part.node);
  if (part.attempt > 0)
    text += fmt::format(", started anew {} time{}", part.attempt, part.attempt == 1 ? "" : "s");
  layout.say("Job", text + ".");
}

}  // namespace plateau
