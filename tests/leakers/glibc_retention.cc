// SPDX-License-Identifier: Apache-2.0
// Lets the allocator keep what the largest batch so far needed.
//
// Each step allocates a batch of blocks of 96 KiB and frees it again. Sizes vary as lengths of
// texts do (log-normal). When a batch is the largest so far, one small plan for it is kept; it lies
// above the batch on the heap, so glibc, which gives memory back only from the top, keeps all
// below.
// Cause: allocator-high-water.
// Signal: anonymous memory climbs in steps that come ever more rarely; live memory after each step
//   is the model and a few KiB.
// Verdict: plateau, or warming while records still come; never leak.
#include <cmath>
#include <vector>

#include "leaker.h"

int main(int argc, char** argv) {
  constexpr size_t kBlockKb = 96;
  leaker::Loop loop(leaker::Plan{}.read(argc, argv));
  leaker::block(20UL * 1024);
  leaker::Dice dice(153);
  size_t record = 0;
  std::vector<void*> plans;
  loop.run([&](int) {
    // Box-Muller: lengths with a median of 200 blocks (19 MiB) and a long tail.
    const double radius = std::sqrt(-2 * std::log(1 - dice.uniform()));
    const double normal = radius * std::cos(6.2831853 * dice.uniform());
    const auto blocks = static_cast<size_t>(200 * std::exp(0.45 * normal));
    std::vector<void*> batch(blocks);
    for (void*& piece : batch) piece = leaker::block(kBlockKb);
    if (blocks > record) {
      record = blocks;
      plans.push_back(leaker::block(kBlockKb / 2));
    }
    for (void* piece : batch) std::free(piece);
  });
}
