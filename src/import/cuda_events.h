// SPDX-License-Identifier: Apache-2.0
// What a CUDA memory snapshot of PyTorch says, taken out of its pickle: for each device the history
// of its allocator, and what was alive when the snapshot was taken.
// docs/formats/run-folders.md lists the keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "import/pickle.h"

namespace plateau {

struct CudaFrame {
  std::string function;
  std::string file;
  int32_t line = 0;
};

// Stacks of frames, each kept once. The first two have no frames of their own.
struct CudaStacks {
  static constexpr uint32_t kUnknown = 0;  // Recorded without a stack.
  static constexpr uint32_t kBefore = 1;   // Allocated before the history begins.

  std::vector<CudaFrame> frames;
  std::vector<std::vector<uint32_t>> stacks;  // Innermost first.
};

struct CudaEvent {
  enum class Kind : uint8_t {
    alloc,
    free,     // Completed: until then another stream may use the block.
    reserve,  // The allocator took memory from the device,
    release,  // or gave it back.
    oom,
  };
  Kind kind = Kind::alloc;
  uint32_t stack = CudaStacks::kUnknown;
  uint64_t address = 0;
  double bytes = 0;
  double time_us = 0;  // 0: not recorded.
};

struct CudaBlock {
  uint64_t address = 0;
  double bytes = 0;
  uint32_t stack = CudaStacks::kUnknown;
};

struct CudaDevice {
  int64_t index = 0;
  std::vector<CudaEvent> events;
  std::vector<CudaBlock> alive;  // When the snapshot was taken.
  double reserved_bytes = 0;     // At the same time.
};

struct CudaSnapshot {
  static constexpr size_t kMaxEvents = 8u << 20;
  static constexpr size_t kMaxDepth = 128;  // Frames of a stack beyond it are left out.

  std::vector<CudaDevice> devices;  // Those with a history.
  CudaStacks stacks;
  bool has_times = true;  // Every event carries one.
};

// Fails with a sentence where the pickle is no snapshot, or holds no history.
Result<CudaSnapshot> read_snapshot(const Pickle& pickle);

}  // namespace plateau
