// SPDX-License-Identifier: Apache-2.0
#include "prove/trial.h"

#include <fmt/format.h>

#include <algorithm>

namespace plateau {
namespace {

constexpr size_t kMostStates = 100'000;  // Of one process; a design has a few hundred.
constexpr size_t kMostSpeakers = 1024;
constexpr size_t kMostNamed = 3;     // Files that the job writes.
constexpr size_t kFewestBlocks = 4;  // Two pairs: one alone cannot be told from a hiccup.

// A job is as bad as its worst process.
int badness(Proved proved) {
  switch (proved) {
    case Proved::per_step:
      return 3;
    case Proved::undecided:
      return 2;
    case Proved::per_example:
      return 1;
    case Proved::level:
      break;
  }
  return 0;
}

// A stream's dataset does not run again in repeated blocks: growth that stops there may be a cache
// or a leak in the dataset.
Proved word_of(const GrowthOdds& odds, const ProveDesign& design) {
  const Proved proved = proved_by(odds, kFinalShare);
  return design.stream && proved == Proved::per_example ? Proved::undecided : proved;
}

// A contrast asks whether its factor matters, not whether there is growth.
bool is_decided(const GrowthOdds& odds, char kind) {
  if (kind != 'A' && kind != 'B') return proved_by(odds, kEarlyShare) != Proved::undecided;
  return std::max({odds.level, odds.step, odds.mattering()}) >= kEarlyShare;
}

}  // namespace

void ProveTrial::hear(const StepWords& words) {
  if (words.kind != StepWords::Kind::mark) return;
  const std::optional<ProveWords> said = parse_prove_words(words.name);
  if (!said) return;
  heard_ = true;
  if (const auto* skipped = std::get_if<ProveSkipped>(&*said)) {
    saves_ = std::max(saves_, skipped->saves);
    return;
  }
  if (const auto* acted = std::get_if<ProveActed>(&*said)) {
    acted_ = std::max(acted_, acted->times);
    return;
  }
  if (const auto* wrote = std::get_if<ProveWrote>(&*said)) {
    if (files_.size() < kMostSpeakers) files_[words.pid] = wrote->files;
    if (wrote_.size() < kMostNamed) wrote_.push_back(wrote->last);
    return;
  }
  if (const auto* refused = std::get_if<ProveRefused>(&*said)) {
    refused_ = refused->why;
    enough_ = over_ = true;
    return;
  }
  if (!speakers_.contains(words.pid) && speakers_.size() >= kMostSpeakers) return;
  Speaker& speaker = speakers_[words.pid];
  if (const auto* design = std::get_if<ProveDesign>(&*said)) {
    speaker.design = *design;
    begun_ = true;
  }
  // Said before the block's last state.
  if (const auto* idle = std::get_if<ProveIdle>(&*said)) {
    for (ProveState& state : speaker.states) {
      if (state.block == idle->block) state.kind = '-';
    }
    speaker.idle = idle->block;
    ++speaker.idle_blocks;
  }
  if (std::holds_alternative<ProveOver>(*said)) speaker.over = over_ = true;
  const auto* state = std::get_if<ProveState>(&*said);
  if (state != nullptr) last_step_ = state->at;
  if (state != nullptr && speaker.states.size() < kMostStates) {
    speaker.states.push_back(*state);
    if (state->block == speaker.idle) speaker.states.back().kind = '-';
  }
  look_at(speaker);
  const bool acted = !leaves_out_ || acted_ > 0;
  enough_ = speaker.over ||
            (acted && std::all_of(speakers_.begin(), speakers_.end(),
                                  [](const auto& entry) { return entry.second.decided; }));
}

// Blocks are few, and odds are computed once for each that has become whole.
void ProveTrial::look_at(Speaker& speaker) {
  if (!speaker.design || speaker.states.empty()) return;
  const ProveState& last = speaker.states.back();
  if (last.place != last.size && !speaker.over) return;
  const std::vector<BatchBlock> blocks = blocks_of(speaker.states, *speaker.design);
  if (blocks.size() == speaker.blocks) return;
  speaker.blocks = blocks.size();
  if (blocks.size() < kFewestBlocks) return;
  speaker.odds = growth_odds(blocks);
  speaker.decided = is_decided(speaker.odds, blocks.front().kind);
}

ProveResult ProveTrial::result() const {
  ProveResult worst;
  worst.heard = heard_;
  worst.saves = saves_;
  worst.acted = acted_;
  worst.refused = refused_;
  worst.wrote = wrote_;
  for (const auto& [pid, files] : files_) worst.files_written += files;
  worst.speakers = speakers_.size();
  bool first = true;
  for (const auto& [pid, speaker] : speakers_) {
    if (!speaker.design) {
      if (!speaker.states.empty()) worst.steps = std::max(worst.steps, speaker.states.back().at);
      continue;
    }
    const std::vector<BatchBlock> blocks = blocks_of(speaker.states, *speaker.design);
    const GrowthOdds odds = growth_odds(blocks);
    const Proved proved = word_of(odds, *speaker.design);
    if (!first && badness(proved) <= badness(worst.proved)) continue;
    first = false;
    worst.proved = proved;
    worst.odds = odds;
    worst.design = speaker.design;
    worst.blocks = blocks;
    worst.idle = speaker.idle_blocks;
    worst.pid = pid;
    worst.steps = speaker.states.empty() ? 0 : speaker.states.back().at;
  }
  return worst;
}

std::string ProveTrial::progress(int64_t steps) const {
  if (speakers_.empty()) return "";
  const Speaker& speaker = speakers_.begin()->second;
  if (speaker.states.empty()) return "";
  const ProveState& last = speaker.states.back();
  if (last.size == 0) return fmt::format("warm-up, step {}", last.at);
  const int64_t all = last.block + std::max<int64_t>(0, steps - last.at) / last.size;
  return fmt::format("block {} of at most {} ({}), step {}", last.block, all,
                     last.kind == 'N'   ? "new batches"
                     : last.kind == 'R' ? "the same again"
                     : last.kind == 'A' ? "without"
                                        : "with",
                     last.at);
}

}  // namespace plateau
