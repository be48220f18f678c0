// SPDX-License-Identifier: Apache-2.0
// What a tracer costs a program that throws: an exception passes twenty frames, each with a
// destructor to run, and is caught. The exception itself is a block of the heap; unwinding looks up
// every frame in the tables of the loaded objects, of which a tracer is one more.
//
//   throws [EXCEPTIONS]       default 60000
//
// Prints a checksum, the same under every tracer.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "usage.h"

namespace {

constexpr int kDepth = 20;

struct Counted {
  explicit Counted(uint64_t& count) : count_(count) {}
  ~Counted() { ++count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  uint64_t& count_;
};

[[gnu::noinline]] uint64_t throw_below(int depth, uint64_t value, uint64_t& count) {
  const Counted counted(count);
  if (depth == 0) throw value;
  return throw_below(depth - 1, value, count) + 1;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t exceptions = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 60000;
  uint64_t checksum = 0;
  uint64_t passed = 0;
  for (uint64_t i = 0; i < exceptions; ++i) {
    try {
      checksum += throw_below(kDepth, i, passed);
    } catch (const uint64_t value) {
      checksum = checksum * 31 + value;
    }
  }
  std::printf("%llu\n", static_cast<unsigned long long>(checksum + passed));
  print_usage();
  return 0;
}
