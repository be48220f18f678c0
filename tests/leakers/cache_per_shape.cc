// SPDX-License-Identifier: Apache-2.0
// Keeps a prepared kernel per input shape, at most 64 of them.
//
// Two of three batches have a common shape that was seen before; the third draws one of 400. A new
// shape makes an entry of 1.5 MiB; the least recently used one goes when 64 are held.
// Cause: bounded-cache.
// Signal: anonymous memory climbs for some 200 steps and is level from there, away from the end of
//   the epoch (step 350), while shapes go on changing.
// Verdict: plateau.
#include <list>

#include "leaker.h"

int main(int argc, char** argv) {
  constexpr size_t kCapacity = 64;
  constexpr size_t kEntryKb = 1536;
  struct Entry {
    int shape;
    void* kernel;
  };
  leaker::Plan plan;
  plan.steps = 700;
  plan.epoch_steps = 350;
  plan.step_s = 0.016;
  leaker::Loop loop(plan.read(argc, argv));
  leaker::block(40UL * 1024);
  leaker::Dice dice(3);
  std::list<Entry> cache;  // The most recently used first.
  loop.run([&](int) {
    const int shape = dice.below(3) == 0 ? dice.below(400) : 1000 + dice.below(4);
    const auto found = std::find_if(cache.begin(), cache.end(),
                                    [shape](const Entry& entry) { return entry.shape == shape; });
    if (found != cache.end()) {
      cache.splice(cache.begin(), cache, found);
      return;
    }
    if (cache.size() == kCapacity) {
      std::free(cache.back().kernel);
      cache.pop_back();
    }
    cache.push_front({.shape = shape, .kernel = leaker::block(kEntryKb)});
  });
}
