// SPDX-License-Identifier: Apache-2.0
// What programs print when memory runs out, recognised in a line of output or of a log.
//
// Question. Is this line the complaint of a program that did not get its memory, or of somebody who
// killed it for what it took, and of which memory?
//
// Method. One table of phrases (last_words.cc), each of a kind: a new message is one row there and
// one line in last_words_test.cc. Most lines hold none of them, so the line is passed over in
// jumps: of six letters the last two decide whether any phrase could end its first six there, and
// how far the next place is (Wu and Manber's idea). That looks at a quarter of the bytes. Of
// several phrases in one line the one that stands first in the table wins, because special ones
// stand before general ones.
//
// Worked case. "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a
// total capacity of 79.15 GiB of which 1.06 GiB is free." is `gpu_memory`; 2,147 MB were asked for.
//
// Blind spot. A program may print any of this and live on, or quote what another one printed: that
// a line was printed is all that is known here. verdict/said.h decides what it meant.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plateau {

enum class LastWordsKind : uint8_t {
  gpu_memory,     // The device's memory was full.
  gpu_library,    // A GPU library did not get its workspace.
  device_memory,  // XLA or TensorFlow: a device's memory, which may be the host's.
  shared_memory,  // /dev/shm was full.
  worker_killed,  // A DataLoader worker was killed or vanished.
  host_memory,    // The system gave no more.
  address_limit,  // The same under a limit on address space; no message says so by itself.
  java_heap,      // A JVM reached its own limit.
  node_heap,      // V8 reached its own limit.
  kernel_kill,    // The kernel killed for want of memory on the machine.
  cgroup_kill,    // The kernel killed at the limit of a cgroup, a container or a Slurm step.
  killed,         // Somebody sent SIGKILL, as the kernel's OOM killer does.
};
inline constexpr size_t kLastWordsKinds = static_cast<size_t>(LastWordsKind::killed) + 1;

// "gpu-memory": stable, as in JSON.
std::string_view last_words_name(LastWordsKind kind);
std::optional<LastWordsKind> last_words_from_name(std::string_view name);

struct LastWords {
  LastWordsKind kind = LastWordsKind::host_memory;
  size_t at = 0;  // Where in the line the phrase begins.
};

// Looks at the first 8 KB of the line. Pure; never fails.
std::optional<LastWords> find_last_words(std::string_view line);

// The part of a line that is worth keeping: at most kMostQuoted bytes around the phrase, as they
// are. Hostile until printed.
inline constexpr size_t kMostQuoted = 480;
std::string_view worth_quoting(std::string_view line, const LastWords& words);

// The same as one harmless line, without secrets, cut to whole characters.
std::string quote_of(std::string_view text);

// The figures of a message, in MB, where it has them.
struct LastWordsFigures {
  std::optional<double> asked_mb;     // "Tried to allocate 2.00 GiB".
  std::optional<double> capacity_mb;  // Of the GPU.
  std::optional<double> free_mb;      // Of the GPU.
  std::optional<double> unused_mb;    // Reserved by PyTorch's allocator, and not in use.
};
LastWordsFigures figures_of(std::string_view text);

}  // namespace plateau
