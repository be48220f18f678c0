// SPDX-License-Identifier: Apache-2.0
// A replay buffer of fixed capacity, as reinforcement learning keeps one: episodes of varying
// length are added until the number of transitions reaches the capacity; then the oldest go.
#include "steps.h"

int main(int argc, char** argv) {
  Job job(argc, argv);
  const auto capacity = static_cast<size_t>(job.get("capacity", 20000));
  const auto bytes = static_cast<size_t>(job.get("bytes", 4000));
  std::deque<std::unique_ptr<char[]>> buffer;
  for (int step = 1; step <= job.steps(); ++step) {
    job.train();
    const int length = static_cast<int>(job.get("length", 100) * job.uniform(0.2, 1.8));
    for (int i = 0; i < length; ++i) buffer.push_back(Job::filled(bytes));
    while (buffer.size() > capacity) {
      buffer.pop_front();
      job.growth_ends(step);
    }
    job.end_step(step);
  }
  job.done();
}
