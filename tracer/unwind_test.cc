// SPDX-License-Identifier: Apache-2.0
// Our walk against the one of libgcc, which exceptions rely on, call site by call site.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unwind.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tracer/process.h"
#include "tracer/stack.h"

#if defined(__x86_64__)

namespace plateau::trace {
namespace {

// Rules are kept only once the recorder was told of their object, so there must be a segment.
class Unwind : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string pattern = "/tmp/plateau-unwind-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    ASSERT_TRUE(configure_from((pattern + ":exact:0").c_str()));
    EXPECT_NE(current_segment(), nullptr);
    std::filesystem::remove_all(pattern);
  }
  static void TearDownTestSuite() { stop_tracing(SegmentState::ended); }
};

// Two walks of one stack: ours, and the reference from the same function.
struct Pair {
  std::vector<uint64_t> ours;
  std::vector<uint64_t> reference;
  uint32_t truncated = 0;
  uint64_t id = 0;
};

// Stands for the hook: what the tracer's malloc is to the program.
[[gnu::noinline]] void hook(RawStack& stack) {
  capture_stack(stack, reinterpret_cast<uint64_t>(__builtin_return_address(0)),
                __builtin_frame_address(0));
  asm volatile("" ::: "memory");
}

[[gnu::noinline]] void take(Pair& pair) {
  static thread_local RawStack stack;
  hook(stack);
  pair.ours.assign(stack.native_frames, stack.native_frames + stack.native);
  pair.reference.clear();
  _Unwind_Backtrace(
      [](_Unwind_Context* context, void* out) {
        const uint64_t address = _Unwind_GetIP(context);
        if (address != 0) static_cast<std::vector<uint64_t>*>(out)->push_back(address);
        return _URC_NO_REASON;
      },
      &pair.reference);
  pair.truncated = stack.truncated;
  pair.id = stack.id;
}

// All but the first frame, which is take() itself at two different places, must agree. An
// interrupted address is written plus one.
void expect_same(const Pair& pair, size_t at_least) {
  EXPECT_GE(pair.ours.size(), at_least);
  ASSERT_EQ(pair.ours.size(), pair.reference.size());
  for (size_t i = 1; i < pair.ours.size(); ++i) {
    const bool interrupted = pair.ours[i] == pair.reference[i] + 1;
    EXPECT_TRUE(interrupted || pair.ours[i] == pair.reference[i]) << "frame " << i;
  }
}

[[gnu::noinline]] int recurse(int depth, const std::function<void()>& at_the_end) {
  if (depth == 0) {
    at_the_end();
    return 0;
  }
  volatile char moved[64];
  moved[0] = static_cast<char>(depth);
  return recurse(depth - 1, at_the_end) + moved[0];
}

// A frame of a size that only rbp can tell.
[[gnu::noinline]] int with_alloca(size_t bytes, const std::function<void()>& inside) {
  auto* room = static_cast<volatile char*>(__builtin_alloca(bytes));
  room[0] = 1;
  inside();
  return room[0];
}

// Arguments on the stack and a realigned frame: the CFA is known only by an expression.
[[gnu::noinline]] int with_realigned_stack(int a, int b, int c, int d, int e, int f, int g, int h,
                                           const std::function<void()>& inside) {
  alignas(64) volatile char room[128];
  room[0] = static_cast<char>(a + b + c + d + e + f + g + h);
  auto* more = static_cast<volatile char*>(__builtin_alloca(static_cast<size_t>(a)));
  more[0] = 1;
  inside();
  return room[0] + more[0];
}

Pair* g_pair = nullptr;
int compare_numbers(const void* left, const void* right) {
  if (g_pair->ours.empty()) take(*g_pair);
  return *static_cast<const int*>(left) - *static_cast<const int*>(right);
}
void on_signal(int) {
  take(*g_pair);
}

TEST_F(Unwind, DeepRecursionAgreesWithLibgcc) {
  Pair pair;
  recurse(90, [&] { take(pair); });
  expect_same(pair, 90);
  EXPECT_EQ(pair.truncated, 0U);
}

TEST_F(Unwind, StackDeeperThanTheRecordIsCutAndMarked) {
  Pair pair;
  recurse(300, [&] { take(pair); });
  ASSERT_EQ(pair.ours.size(), kMaxNativeFrames);
  EXPECT_EQ(pair.truncated, 1U);
  for (size_t i = 1; i < kMaxNativeFrames; ++i) EXPECT_EQ(pair.ours[i], pair.reference[i]);
}

TEST_F(Unwind, FramesOfVariableSizeAndRealignedFramesArePassed) {
  Pair pair;
  with_alloca(1000, [&] { with_realigned_stack(1, 2, 3, 4, 5, 6, 7, 8, [&] { take(pair); }); });
  expect_same(pair, 6);
}

TEST_F(Unwind, CallbackFromTheCLibraryIsPassed) {
  Pair pair;
  g_pair = &pair;
  int numbers[] = {3, 1, 2};
  qsort(numbers, 3, sizeof numbers[0], compare_numbers);
  expect_same(pair, 5);
}

TEST_F(Unwind, CallbackFromALibraryLoadedLaterIsPassed) {
  void* library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) GTEST_SKIP() << "no libz.so.1 here";
  struct Stream {
    const void* next_in;
    unsigned avail_in;
    unsigned long total_in;
    void* next_out;
    unsigned avail_out;
    unsigned long total_out;
    const char* message;
    void* state;
    void* (*zalloc)(void*, unsigned, unsigned);
    void (*zfree)(void*, void*);
    void* opaque;
    int data_type;
    unsigned long adler;
    unsigned long reserved;
  } stream{};
  Pair pair;
  stream.opaque = &pair;
  stream.zalloc = [](void* opaque, unsigned, unsigned) -> void* {
    take(*static_cast<Pair*>(opaque));
    return nullptr;
  };
  stream.zfree = [](void*, void*) {};
  auto* start =
      reinterpret_cast<int (*)(Stream*, const char*, int)>(dlsym(library, "inflateInit_"));
  ASSERT_NE(start, nullptr);
  start(&stream, "1.2.13", static_cast<int>(sizeof stream));
  expect_same(pair, 4);
  dlclose(library);
  forget_modules();
}

TEST_F(Unwind, SignalFrameIsPassed) {
  Pair pair;
  g_pair = &pair;
  struct sigaction action{};
  struct sigaction before{};
  action.sa_handler = on_signal;
  sigaction(SIGUSR1, &action, &before);
  recurse(5, [] { raise(SIGUSR1); });
  sigaction(SIGUSR1, &before, nullptr);
  expect_same(pair, 10);
}

TEST_F(Unwind, SignalOnItsOwnStackLeadsBackToTheInterruptedStack) {
  Pair pair;
  g_pair = &pair;
  const size_t bytes = size_t{256} << 10;
  void* room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(room, MAP_FAILED);
  stack_t other{};
  stack_t before{};
  other.ss_sp = room;
  other.ss_size = bytes;
  sigaltstack(&other, &before);
  struct sigaction action{};
  struct sigaction old{};
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, &old);
  recurse(5, [] { raise(SIGUSR1); });
  sigaction(SIGUSR1, &old, nullptr);
  before.ss_flags = SS_DISABLE;
  sigaltstack(&before, nullptr);
  munmap(room, bytes);
  expect_same(pair, 10);
}

TEST_F(Unwind, HandlersAndDestructorsOfExceptionsArePassed) {
  Pair in_destructor;
  Pair in_handler;
  struct Guard {
    Pair* pair;
    ~Guard() { take(*pair); }
  };
  recurse(3, [&] {
    try {
      const Guard guard{&in_destructor};
      recurse(2, [] { throw 1; });
    } catch (int) {
      take(in_handler);
    }
  });
  expect_same(in_destructor, 6);
  expect_same(in_handler, 5);
}

TEST_F(Unwind, ThreadEndsAtItsStart) {
  Pair pair;
  std::thread([&] { recurse(20, [&] { take(pair); }); }).join();
  expect_same(pair, 22);
}

TEST_F(Unwind, ThreadWithASmallStackIsWalked) {
  Pair pair;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, size_t{128} << 10);
  pthread_t thread{};
  const auto body = [](void* argument) -> void* {
    take(*static_cast<Pair*>(argument));
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, body, &pair), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  expect_same(pair, 3);
}

ucontext_t g_main_context;
ucontext_t g_fiber_context;
void fiber_body() {
  recurse(4, [] { take(*g_pair); });
  swapcontext(&g_fiber_context, &g_main_context);
}

TEST_F(Unwind, FiberStackIsWalkedPageByPage) {
  Pair pair;
  g_pair = &pair;
  // Inaccessible pages on both sides: reading one byte too far would be fatal.
  const size_t bytes = size_t{256} << 10;
  auto* room =
      static_cast<char*>(mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(room, MAP_FAILED);
  ASSERT_EQ(mprotect(room + 65536, 131072, PROT_READ | PROT_WRITE), 0);
  getcontext(&g_fiber_context);
  g_fiber_context.uc_stack.ss_sp = room + 65536;
  g_fiber_context.uc_stack.ss_size = 131072;
  g_fiber_context.uc_link = &g_main_context;
  makecontext(&g_fiber_context, fiber_body, 0);
  swapcontext(&g_main_context, &g_fiber_context);
  munmap(room, bytes);
  expect_same(pair, 6);
}

// Code without call frame information, as a JIT writes it.
class MadeCode {
 public:
  explicit MadeCode(const std::vector<uint8_t>& code) {
    room_ = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(room_, code.data(), code.size());
    mprotect(room_, 4096, PROT_READ | PROT_EXEC);
  }
  ~MadeCode() { munmap(room_, 4096); }
  void call(void (*function)()) const {
    reinterpret_cast<void (*)(void (*)())>(reinterpret_cast<uintptr_t>(room_))(function);
  }
  uint64_t address() const { return reinterpret_cast<uint64_t>(room_); }

 private:
  void* room_ = nullptr;
};
[[gnu::noinline]] void take_global() {
  take(*g_pair);
  asm volatile("" ::: "memory");
}

TEST_F(Unwind, MadeCodeWithFramePointersIsPassed) {
  Pair pair;
  Pair outside;
  g_pair = &pair;
  // push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret
  const MadeCode code({0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3});
  code.call(take_global);
  take(outside);
  ASSERT_EQ(pair.ours.size(), outside.ours.size() + 2);
  EXPECT_EQ(pair.ours[2], code.address() + 6);
  for (size_t i = 2; i < outside.ours.size(); ++i) EXPECT_EQ(pair.ours[i + 2], outside.ours[i]);
}

TEST_F(Unwind, MadeCodeWithAWildFramePointerEndsTheWalk) {
  Pair pair;
  g_pair = &pair;
  // push %rbp; mov $0x10,%ebp; sub $16,%rsp; call *%rdi; add $16,%rsp; pop %rbp; ret
  const MadeCode code({0x55, 0xbd, 0x10, 0x00, 0x00, 0x00, 0x48, 0x83, 0xec, 0x10, 0xff, 0xd7, 0x48,
                       0x83, 0xc4, 0x10, 0x5d, 0xc3});
  code.call(take_global);
  ASSERT_EQ(pair.ours.size(), 3U);
  EXPECT_EQ(pair.ours[2], code.address() + 12);
}

TEST_F(Unwind, SameStackHasTheSameIdAndAnotherHasAnother) {
  Pair pairs[3];
  for (int i = 0; i < 2; ++i) recurse(3, [&] { take(pairs[i]); });
  recurse(4, [&] { take(pairs[2]); });
  EXPECT_NE(pairs[0].id, 0U);
  EXPECT_EQ(pairs[0].id, pairs[1].id);
  EXPECT_NE(pairs[0].id, pairs[2].id);
}

// The walk before is taken over where it still holds: whatever changed in between must be seen.
TEST_F(Unwind, SuccessiveStacksOfAThreadAgreeEachWithLibgcc) {
  uint32_t random = 12345;
  const std::function<void(int, Pair&)> wander = [&](int depth, Pair& pair) {
    if (depth == 0) {
      take(pair);
      return;
    }
    random = random * 1664525 + 1013904223;
    const std::function<void()> inside = [&, depth] { wander(depth - 1, pair); };
    switch (random >> 30) {
      case 0:
        recurse(static_cast<int>(random >> 20 & 3), inside);
        break;
      case 1:
        with_alloca(16 + (random >> 16 & 1023), inside);
        break;
      case 2:
        with_realigned_stack(1 + static_cast<int>(random >> 16 & 63), 2, 3, 4, 5, 6, 7, 8, inside);
        break;
      default:
        inside();
    }
  };
  for (int round = 0; round < 400; ++round) {
    Pair pair;
    // Every other stack shares its outer half with the one before.
    const uint32_t kept = random;
    wander(6, pair);
    expect_same(pair, 8);
    if (round % 2 == 0) random = kept;
    if (HasFailure()) break;
  }
}

TEST_F(Unwind, AStackTakenOverHasTheIdOfTheStackWalked) {
  uint64_t ids[3] = {};
  for (int i = 0; i < 3; ++i) {
    Pair pair;
    recurse(12, [&] { take(pair); });
    ids[i] = pair.id;
    if (i == 1) forget_modules();
  }
  EXPECT_EQ(ids[0], ids[1]);
  EXPECT_EQ(ids[0], ids[2]);
}

TEST_F(Unwind, RulesAreForgottenWhileOtherThreadsWalk) {
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> walkers;
  for (int i = 0; i < 2; ++i) {
    walkers.emplace_back([&, i] {
      Pair first;
      for (int round = 0; round < 3000; ++round) {
        recurse(10 + i, [&] {
          static thread_local RawStack stack;
          hook(stack);
          if (first.id == 0) first.id = stack.id;
          if (stack.id != first.id) ++wrong;
        });
      }
      stop = true;
    });
  }
  while (!stop) forget_modules();
  for (std::thread& walker : walkers) walker.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace plateau::trace

#endif
