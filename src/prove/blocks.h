// SPDX-License-Identifier: Apache-2.0
// States of memory -> blocks, each with its growth per step.
//
// Of a block only the states count in which nothing of its neighbours is on its way: `lag` batches
// at its beginning are not yet trained on, `ahead` at its end already belong to the next block.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "prove/words.h"

namespace plateau {

struct BatchBlock {
  char kind = 'N';  // N new, R again; A without, B with a factor.
  int64_t number = 0;
  int64_t first_at = 0;  // Batches of the job when the first and the last state were read.
  int64_t last_at = 0;
  double first_mb = 0;
  double last_mb = 0;
  double steps = 0;  // Between the two floors that were compared.
  double mb_per_step = 0;
};

// Whole blocks only, in order. Growth is the distance of two floors, the lowest of up to three
// states at either end of what counts: a state that was read while a worker decodes a picture is
// too high, none is too low. States that got lost on their way leave the others as they are.
std::vector<BatchBlock> blocks_of(std::span<const ProveState> states, const ProveDesign& design);

}  // namespace plateau
