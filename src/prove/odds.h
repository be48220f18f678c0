// SPDX-License-Identifier: Apache-2.0
// Blocks -> what was proved, with the odds.
//
// The question: does memory grow with new examples, with steps, with both or not at all? In a block
// of new batches it grows by `example + step` MB a batch, in one of repeated batches by `step`. The
// design is known and the blocks are minutes apart in one process, so this is a comparison of a few
// numbers, not of curves.
//
// The method: four hypotheses (level, per example, per step, both), each a mixture over its rates,
// which may be anything from 0.03 MB to 10 GB a step, every decade alike; over the noise of a
// block, partly in MB and partly in proportion to the growth (pictures differ in size); and over a
// warm-up that fades from block to block. Noise is Student's t with three degrees of freedom: one
// block with a hiccup (a collection in a worker, a first evaluation) must not decide. New blocks
// depend on the sum of both rates only and repeated ones on `step` only, so the mixture over two
// rates is a product of two tables. The shares of the four sum to one; odds are share / (1 -
// share).
//
// Worked number: lazily decoded pictures, 2.79 0.01 2.76 0.00 MB a step in N R N R. With the noise
// of these blocks (0.02 MB) per example has a share of 0.99 and more: a step rate of at least 0.03
// MB would have shown in R. Losses kept with their graph, 0.53 0.51 0.53 0.53: per step, same odds.
//
// Blind spots: growth below 0.03 MB a step; growth in lumps so rare that a block has none (Python's
// arenas of 1 MB: a leak of 20 KB a step is one lump in fifty); a cache whose key is new at every
// call (random augmentation), which is per step by this design and in truth; a warm-up that lasts
// longer than the design.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "prove/blocks.h"

namespace plateau {

enum class Proved : uint8_t { per_example, per_step, level, undecided };

// "per-example", as --json has it.
std::string_view proved_name(Proved proved);

struct GrowthOdds {
  double level = 0;    // Shares; they sum to 1.
  double example = 0;  // New examples only.
  double step = 0;     // Every step, new or not, and nothing beyond for new ones.
  double both = 0;
  double step_mb = 0;  // Per step, whatever the batch; 0 unless the winner has it.
  double new_mb = 0;   // Per step of new examples beyond that.
  size_t new_blocks = 0;
  size_t again_blocks = 0;

  [[nodiscard]] double growing() const { return step + both; }  // Growth that does not end.
  // Growth that new examples, or the factor of a contrast, make or take away.
  [[nodiscard]] double mattering() const { return example + both; }
};

// N and A blocks count as new, R and B as repeated. Without a block all shares are 1/4. Without new
// blocks `example` and `both` are 0: nothing can be said of them.
GrowthOdds growth_odds(std::span<const BatchBlock> blocks);

// The word, if its share is at least `share`; per-step includes `both`.
Proved proved_by(const GrowthOdds& odds, double share);
// Of the likeliest word: share / (1 - share), at most 9999.
double odds_of(const GrowthOdds& odds);

}  // namespace plateau
