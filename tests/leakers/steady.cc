// SPDX-License-Identifier: Apache-2.0
// The control: nothing grows.
//
// A model of 60 MiB, and in each step a batch of up to 6 MiB that is allocated and freed.
// Cause: none.
// Signal: anonymous memory is level with noise.
// Verdict: plateau.
#include <sys/mman.h>

#include "leaker.h"

int main(int argc, char** argv) {
  leaker::Loop loop(leaker::Plan{}.read(argc, argv));
  leaker::block(60UL * 1024);
  leaker::Dice dice(5);
  loop.run([&](int) {
    const size_t bytes = (1 + static_cast<size_t>(dice.below(6))) << 20U;
    void* batch = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (batch == MAP_FAILED) std::abort();
    leaker::touch(batch, bytes);
    loop.pause(1);
    munmap(batch, bytes);
  });
}
