// SPDX-License-Identifier: Apache-2.0
// A native function that forgets a small block per call: 32 to 200 bytes, many calls a step.
#include "steps.h"

int main(int argc, char** argv) {
  Job job(argc, argv);
  const double calls = job.get("calls", 2000);
  for (int step = 1; step <= job.steps(); ++step) {
    job.train();
    const int now = static_cast<int>(calls * job.uniform(0.7, 1.3));
    for (int i = 0; i < now; ++i) {
      const auto size = static_cast<size_t>(job.uniform(32, 200));
      std::memset(std::malloc(size), 1, size);  // the handle is lost here
      job.leak(size);
    }
    job.end_step(step);
  }
  job.done();
}
