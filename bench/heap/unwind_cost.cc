// SPDX-License-Identifier: Apache-2.0
// What one call stack costs: the tracer's own walk, libunwind's and libgcc's, in turn in one run.
//
//   tools/build.sh --bench release heap_unwind_cost
//   build/release/bench/heap/heap_unwind_cost [ROUNDS]
//
// "hot" takes one stack of 22 frames again and again; "1000 stacks" takes stacks that differ in
// their inner frames, each once per turn. libunwind is loaded if it is there, in a namespace of its
// own reach, because it exports the names of libgcc's functions.
#include <dlfcn.h>
#include <unwind.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tracer/process.h"
#include "tracer/stack.h"
#include "tracer/unwind.h"

namespace {

using Taker = void (*)();
constexpr uint32_t kFrames = plateau::trace::kMaxNativeFrames;

uint64_t g_frames[kFrames];
uint32_t g_count = 0;
int (*g_libunwind)(void**, int) = nullptr;

[[gnu::noinline]] void take_ours() {
  const auto* frame = static_cast<const uint64_t*>(__builtin_frame_address(0));
  const plateau::trace::WalkStart start{
      .pc = reinterpret_cast<uint64_t>(__builtin_return_address(0)),
      .stack_pointer = reinterpret_cast<uint64_t>(frame) + 16,
      .frame_pointer = *frame};
  g_count = plateau::trace::walk_stack(start, g_frames, kFrames).count;
}

[[gnu::noinline]] void take_libunwind() {
  g_count = static_cast<uint32_t>(
      g_libunwind(reinterpret_cast<void**>(g_frames), static_cast<int>(kFrames)));
}

[[gnu::noinline]] void take_libgcc() {
  g_count = 0;
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void*) {
        if (g_count < kFrames) g_frames[g_count++] = _Unwind_GetIP(context);
        return _URC_NO_REASON;
      },
      nullptr);
}

// Two functions, so that a path of bits makes a stack of its own.
[[gnu::noipa]] int descend(uint32_t path, int depth, Taker take, int repeats);
[[gnu::noipa]] int left(uint32_t path, int depth, Taker take, int repeats) {
  volatile char room[48];
  room[0] = 1;
  return descend(path >> 1, depth - 1, take, repeats) + room[0];
}
[[gnu::noipa]] int right(uint32_t path, int depth, Taker take, int repeats) {
  volatile char room[16];
  room[0] = 2;
  return descend(path >> 1, depth - 1, take, repeats) - room[0];
}
[[gnu::noipa]] int descend(uint32_t path, int depth, Taker take, int repeats) {
  if (depth == 0) {
    for (int i = 0; i < repeats; ++i) {
      take();
      asm volatile("" ::: "memory");
    }
    return 0;
  }
  const int below =
      (path & 1) != 0 ? left(path, depth, take, repeats) : right(path, depth, take, repeats);
  return below + 1;
}

// Nanoseconds of `calls` stacks in all, the way down to them included.
template <typename Work>
double nanoseconds(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

double hot(Taker take, int calls) {
  return nanoseconds([&] { descend(0x2d5, 9, take, calls); }) / calls;
}
double spread(Taker take, int turns) {
  constexpr uint32_t kStacks = 1000;
  return nanoseconds([&] {
           for (int turn = 0; turn < turns; ++turn) {
             for (uint32_t i = 0; i < kStacks; ++i) descend(i * 7919 % 1024, 10, take, 1);
           }
         }) /
         turns / kStacks;
}
void take_nothing() {
  g_count = 0;
}

}  // namespace

int main(int argc, char** argv) {
  // Rules are kept once the recorder was told of their object: there must be a segment.
  char directory[] = "/tmp/plateau-unwind-XXXXXX";
  if (mkdtemp(directory) == nullptr ||
      !plateau::trace::configure_from((std::string(directory) + ":exact:0").c_str()) ||
      plateau::trace::current_segment() == nullptr) {
    fprintf(stderr, "unwind_cost: cannot make a segment in %s\n", directory);
    return 1;
  }
  std::filesystem::remove_all(directory);
  const int rounds = argc > 1 ? std::max(1, atoi(argv[1])) : 7;
  if (void* library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL)) {
    g_libunwind = reinterpret_cast<int (*)(void**, int)>(dlsym(library, "unw_backtrace"));
  }
  struct Case {
    const char* name;
    Taker take;
    int share;  // Slower walks are repeated less.
    double hot;
    double spread;
    uint32_t frames;
  };
  std::vector<Case> cases = {{"nothing", take_nothing, 1, 1e18, 1e18, 0},
                             {"ours", take_ours, 1, 1e18, 1e18, 0},
                             {"libgcc", take_libgcc, 20, 1e18, 1e18, 0}};
  if (g_libunwind != nullptr) cases.push_back({"libunwind", take_libunwind, 1, 1e18, 1e18, 0});
  for (int round = 0; round < rounds; ++round) {
    for (Case& one : cases) {
      one.hot = std::min(one.hot, hot(one.take, 200000 / one.share));
      one.frames = g_count;
      one.spread = std::min(one.spread, spread(one.take, std::max(1, 100 / one.share)));
    }
  }
  const double ours = cases[1].hot;
  const double ours_spread = cases[1].spread - cases[0].spread;
  printf("%-10s %7s %12s %8s %18s %8s\n", "walk", "frames", "hot, ns", "x ours", "1000 stacks, ns",
         "x ours");
  for (const Case& one : cases) {
    const double net = one.spread - (&one == cases.data() ? 0 : cases[0].spread);
    printf("%-10s %7u %12.1f %8.2f %18.1f %8.2f\n", one.name, one.frames, one.hot, one.hot / ours,
           net, net / ours_spread);
  }
  if (g_libunwind == nullptr) printf("libunwind.so.8 is not installed: left out\n");
  return 0;
}
