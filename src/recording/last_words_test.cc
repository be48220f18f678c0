// SPDX-License-Identifier: Apache-2.0
#include "recording/last_words.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

namespace plateau {
namespace {

using Kind = LastWordsKind;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kCuda =
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
    "capacity of 79.15 GiB of which 1.06 GiB is free. Including non-PyTorch memory, this process "
    "has 78.08 GiB memory in use. Of the allocated memory 76.21 GiB is allocated by PyTorch, and "
    "1.12 GiB is reserved by PyTorch but unallocated.";

const std::vector<std::pair<Kind, std::string_view>>& messages() {
  static const std::vector<std::pair<Kind, std::string_view>> kMessages = {
      {Kind::gpu_memory, kCuda},
      {Kind::gpu_memory, "torch.cuda.OutOfMemoryError: Allocation on device 0 would exceed"},
      {Kind::gpu_memory, "RuntimeError: CUDA error: out of memory"},
      {Kind::gpu_memory, "[rank3]: torch.OutOfMemoryError: HIP out of memory. Tried to allocate"},
      {Kind::gpu_memory, "RuntimeError: MPS backend out of memory (MPS allocated: 17.9 GB"},
      {Kind::gpu_library,
       "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"},
      {Kind::device_memory,
       "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to "
       "allocate 8589934592 bytes."},
      {Kind::device_memory, "ResourceExhaustedError: OOM when allocating tensor with shape[9,9]"},
      {Kind::shared_memory,
       "RuntimeError: DataLoader worker (pid 4711) is killed by signal: Bus error. It is possible "
       "that dataloader's workers are out of shared memory."},
      {Kind::shared_memory,
       "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient "
       "shared memory (shm)."},
      {Kind::shared_memory,
       "RuntimeError: unable to write to file </torch_71_2>: No space left on device (28)"},
      {Kind::worker_killed, "RuntimeError: DataLoader worker (pid 8) is killed by signal: Killed."},
      {Kind::worker_killed, "RuntimeError: DataLoader worker (pid(s) 12, 13) exited unexpectedly"},
      {Kind::host_memory, "MemoryError"},
      {Kind::host_memory,
       "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 7.45 GiB for an array with "
       "shape (1000, 1000, 1000) and data type float64"},
      {Kind::host_memory,
       "RuntimeError: [enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't "
       "allocate memory: you tried to allocate 1099511627776 bytes."},
      {Kind::host_memory, "terminate called after throwing an instance of 'std::bad_alloc'"},
      {Kind::host_memory, "OSError: [Errno 12] Cannot allocate memory"},
      {Kind::host_memory, "fatal error: runtime: out of memory"},
      {Kind::host_memory, "memory allocation of 1048576 bytes failed"},
      {Kind::host_memory, "Unhandled exception. System.OutOfMemoryException: Insufficient memory"},
      {Kind::host_memory, "polars: Out Of Memory"},
      {Kind::java_heap, "Exception in thread \"main\" java.lang.OutOfMemoryError: Java heap space"},
      {Kind::node_heap,
       "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory"},
      {Kind::kernel_kill,
       "[ 123.4] Out of memory: Killed process 4711 (python) total-vm:9kB, anon-rss:8kB"},
      {Kind::kernel_kill,
       "[ 123.4] oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),task=python,pid=4711,uid=0"},
      {Kind::cgroup_kill,
       "[ 123.4] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task=python,pid=4711"},
      {Kind::cgroup_kill, "Memory cgroup out of memory: Killed process 4711 (python)"},
      {Kind::cgroup_kill,
       "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=12.batch. Some of your processes "
       "may have been killed by the cgroup out-of-memory handler."},
      {Kind::cgroup_kill, "      Reason:       OOMKilled"},
      {Kind::killed, "command terminated with exit code 137"},
      {Kind::killed, "failed (exitcode: -9) local_rank: 0 (pid: 4711) of binary: python"},
      {Kind::killed, "Killed"},
  };
  return kMessages;
}

TEST(LastWords, EveryMessageIsOfItsKind) {
  for (const auto& [kind, line] : messages()) {
    const std::optional<LastWords> words = find_last_words(line);
    ASSERT_TRUE(words) << line;
    EXPECT_EQ(words->kind, kind) << line << " taken for " << last_words_name(words->kind);
    // Behind the prefixes of launchers and log collectors as well.
    EXPECT_TRUE(kind == Kind::killed || find_last_words("[rank7]: x y " + std::string(line)));
  }
}

TEST(LastWords, OrdinaryLinesAreNone) {
  for (const std::string_view line :
       {"", "k", "Step 120: RAM 7,159 MB", "GPU memory allocated: 4.2 GB", "Killed 3 zombies",
        "    except MemoryError:", "    raise MemoryError(\"no room\")", "raise MemoryError",
        "    raise torch.OutOfMemoryError(f\"CUDA out of memory\")",
        "  throw new Error('JavaScript heap out of memory');", "loaded 12 shards into memory",
        "allocator: native", "exit code 1", "RESOURCE_EXHAUSTED: quota of requests",
        "early stopping: killed run 3"}) {
    EXPECT_FALSE(find_last_words(line)) << line;
  }
}

TEST(LastWords, AdviceToRaiseALimitIsNoSourceCode) {
  EXPECT_TRUE(find_last_words("raise the limit (ulimit -v): std::bad_alloc"));
  EXPECT_TRUE(find_last_words("throw away the cache: MemoryError"));
}

TEST(LastWords, APhraseIsFoundWhereverItBegins) {
  for (size_t before = 0; before < 40; ++before) {
    const std::string line = std::string(before, 'm') + " MemoryError" + std::string(before, 'e');
    const std::optional<LastWords> words = find_last_words(line);
    ASSERT_TRUE(words) << line;
    EXPECT_EQ(words->at, before + 1);
  }
}

TEST(LastWords, FiguresOfAMessageAreRead) {
  const LastWordsFigures now = figures_of(kCuda);
  EXPECT_NEAR(now.asked_mb.value_or(0), 2147.5, 0.1);
  EXPECT_NEAR(now.capacity_mb.value_or(0), 84986.7, 0.2);
  EXPECT_NEAR(now.free_mb.value_or(0), 1138.2, 0.1);
  EXPECT_NEAR(now.unused_mb.value_or(0), 1202.6, 0.1);
  const LastWordsFigures before = figures_of(
      "CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 15.90 GiB total capacity; 14.10 GiB "
      "already allocated; 11.75 MiB free; 14.50 GiB reserved in total by PyTorch)");
  EXPECT_NEAR(before.asked_mb.value_or(0), 20.97, 0.01);
  EXPECT_NEAR(before.capacity_mb.value_or(0), 17072.5, 0.1);
  EXPECT_NEAR(before.free_mb.value_or(0), 12.32, 0.01);
  EXPECT_NEAR(figures_of("you tried to allocate 1099511627776 bytes.").asked_mb.value_or(0),
              1099511.6, 0.1);
  EXPECT_FALSE(figures_of("MemoryError").asked_mb);
}

TEST(LastWords, AQuoteIsOneHarmlessBoundedLineWithoutSecrets) {
  const std::string evil =
      "\x1b[31mMemoryError\x1b[0m\a --hf_token hf_abcdefghijklmnopqrstuvwxyz1" +
      std::string(5000, 'x');
  const std::string quote = quote_of(evil);
  EXPECT_THAT(quote, HasSubstr("MemoryError"));
  EXPECT_THAT(quote, Not(HasSubstr("hf_abc")));
  EXPECT_THAT(quote, Not(HasSubstr("\x1b")));
  EXPECT_LE(quote.size(), kMostQuoted + 4);
  const std::string far = std::string(7000, 'y') + " MemoryError: here";
  const std::optional<LastWords> words = find_last_words(far);
  ASSERT_TRUE(words);
  EXPECT_THAT(std::string(worth_quoting(far, *words)), HasSubstr("MemoryError: here"));
}

TEST(LastWords, NamesReadBack) {
  for (size_t i = 0; i < kLastWordsKinds; ++i) {
    EXPECT_EQ(last_words_from_name(last_words_name(static_cast<Kind>(i))), static_cast<Kind>(i));
  }
}

}  // namespace
}  // namespace plateau
