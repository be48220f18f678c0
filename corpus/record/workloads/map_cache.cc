// SPDX-License-Identifier: Apache-2.0
// A hash map from example to its token ids, filled in the first epoch: entries, and rehashes that
// double the bucket table (steps on top of the ramp); a flat index vector doubles likewise.
// With `repeat=0` keys never repeat and nothing is evicted: a leak with the same look.
#include <unordered_map>

#include "steps.h"

int main(int argc, char** argv) {
  Job job(argc, argv);
  const int batch = static_cast<int>(job.get("batch", 8));
  const int epoch_steps = static_cast<int>(job.get("epoch_steps", 100));
  const int per_item = static_cast<int>(job.get("per_item", 40));
  const bool repeat = job.get("repeat", 1) != 0;
  const auto tokens = static_cast<size_t>(job.get("tokens", 60));
  std::unordered_map<uint64_t, std::vector<int>> cache;
  std::vector<uint64_t> index;
  for (int step = 1; step <= job.steps(); ++step) {
    job.train();
    const int position = repeat ? (step - 1) % epoch_steps : step - 1;
    for (int i = 0; i < batch * per_item; ++i) {
      const uint64_t key = static_cast<uint64_t>(position) * batch * per_item + i;
      auto [entry, is_new] = cache.try_emplace(key * 0x9e3779b97f4a7c15u);
      if (!is_new) continue;
      entry->second.assign(static_cast<size_t>(tokens * job.uniform(0.5, 1.5)), 7);
      index.push_back(key);
      if (!repeat) job.leak(entry->second.size() * sizeof(int) + 56);
    }
    if (repeat && step == epoch_steps) job.growth_ends(step);
    job.end_step(step);
  }
  job.done();
}
