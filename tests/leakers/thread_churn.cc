// SPDX-License-Identifier: Apache-2.0
// Starts threads and never joins them.
//
// Every third step starts a thread that uses 512 KiB of its stack and then waits for work that
// never comes, as a pool does that is made per call.
// Cause: thread-growth.
// Signal: the thread count and anonymous memory rise together.
// Verdict: leak.
#include <condition_variable>
#include <mutex>

#include "leaker.h"

int main(int argc, char** argv) {
  leaker::Loop loop(leaker::Plan{}.read(argc, argv));
  leaker::block(40UL * 1024);
  std::mutex mutex;
  std::condition_variable work;
  loop.run([&](int step) {
    if (step % 3 != 0) return;
    std::thread([&] {
      unsigned char scratch[512UL * 1024];
      leaker::touch(scratch, sizeof scratch);
      std::unique_lock lock(mutex);
      work.wait(lock, [] { return false; });
    }).detach();
  });
  std::fflush(nullptr);
  _exit(0);  // The threads still wait on what main's stack holds.
}
