// SPDX-License-Identifier: Apache-2.0
// Threads with stacks and scratch of their own. `limit` > 0: started when first needed, up to the
// limit, then reused. `limit` = 0: one is started every so many steps, ends its work and is never
// joined (it waits for a signal that nobody sends), so its stack and its scratch stay.
#include <condition_variable>
#include <mutex>

#include "steps.h"

namespace {
std::mutex mutex;
std::condition_variable wake;
int ready = 0;

// Touches the stack as a deep call would. The buffer is volatile so that it is really written.
void touch_stack(size_t size) {
  volatile char* buffer = static_cast<volatile char*>(__builtin_alloca(size));
  for (size_t i = 0; i < size; i += 512) buffer[i] = 1;
}

void work(size_t stack, size_t scratch) {
  touch_stack(stack);
  auto own = Job::filled(scratch);
  std::unique_lock<std::mutex> lock(mutex);
  ++ready;
  wake.notify_all();
  wake.wait(lock, [] { return false; });
}
}  // namespace

int main(int argc, char** argv) {
  Job job(argc, argv);
  const int limit = static_cast<int>(job.get("limit", 0));
  const int each = static_cast<int>(job.get("each", 4));
  const auto stack = static_cast<size_t>(job.get("stack_kb", 256)) << 10;
  const auto scratch = static_cast<size_t>(job.get("scratch_kb", 300)) << 10;
  int started = 0;
  for (int step = 1; step <= job.steps(); ++step) {
    job.train();
    if (step % each == 0 && (limit == 0 || started < limit)) {
      std::thread(work, stack, scratch).detach();
      ++started;
      if (limit == 0) job.leak(stack + scratch);
      if (started == limit) job.growth_ends(step);
      std::unique_lock<std::mutex> lock(mutex);
      wake.wait(lock, [&] { return ready == started; });
    }
    job.end_step(step);
  }
  job.done();
  std::_Exit(0);  // the waiting threads are not asked
}
