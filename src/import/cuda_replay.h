// SPDX-License-Identifier: Apache-2.0
// The parts of playing a history: the blocks alive at a moment, and the lowest moments of windows.
// Private to cuda_history.cc, which says what for.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "import/cuda_events.h"
#include "recording/heap_track.h"

namespace plateau {

struct ReplayedBlock {
  double bytes = 0;
  uint32_t stack = CudaStacks::kUnknown;
  double since = 0;
};

// The blocks alive, and what each stack holds of them.
class ReplayedBlocks {
 public:
  struct Holding {
    double bytes = 0;
    double blocks = 0;
    HeapSite site;  // Its totals.
  };

  ReplayedBlocks(const CudaDevice& device, size_t stacks, double begin) : holdings_(stacks) {
    reserved_ = device.reserved_bytes;
    std::unordered_map<uint64_t, bool> seen;
    for (const CudaEvent& event : device.events) {
      if (event.kind == CudaEvent::Kind::reserve) reserved_ -= event.bytes;
      if (event.kind == CudaEvent::Kind::release) reserved_ += event.bytes;
      const bool frees = event.kind == CudaEvent::Kind::free;
      if (!frees && event.kind != CudaEvent::Kind::alloc) continue;
      const bool first = seen.try_emplace(event.address, true).second;
      if (first && frees) put(event.address, {event.bytes, CudaStacks::kBefore, begin});
    }
    for (const CudaBlock& block : device.alive) {
      if (seen.contains(block.address)) continue;
      const bool known = block.stack != CudaStacks::kUnknown;
      put(block.address, {block.bytes, known ? block.stack : CudaStacks::kBefore, begin});
    }
    reserved_ = std::max(reserved_, 0.0);
  }

  void apply(const CudaEvent& event, double at) {
    switch (event.kind) {
      case CudaEvent::Kind::alloc:
        take(event.address);
        put(event.address, {event.bytes, event.stack, at});
        break;
      case CudaEvent::Kind::free:
        take(event.address);
        break;
      case CudaEvent::Kind::reserve:
        reserved_ += event.bytes;
        break;
      case CudaEvent::Kind::release:
        reserved_ = std::max(0.0, reserved_ - event.bytes);
        break;
      case CudaEvent::Kind::oom:
        break;
    }
  }

  [[nodiscard]] double bytes() const { return bytes_; }
  [[nodiscard]] double reserved() const { return reserved_; }
  [[nodiscard]] std::vector<Holding>& holdings() { return holdings_; }
  [[nodiscard]] const std::unordered_map<uint64_t, ReplayedBlock>& blocks() const {
    return blocks_;
  }

 private:
  void put(uint64_t address, const ReplayedBlock& block) {
    if (!blocks_.try_emplace(address, block).second) return;
    Holding& holding = holdings_[block.stack];
    bytes_ += block.bytes;
    holding.bytes += block.bytes;
    holding.blocks += 1;
    holding.site.allocated_bytes += block.bytes;
    holding.site.allocated_blocks += 1;
  }

  void take(uint64_t address) {
    const auto found = blocks_.find(address);
    if (found == blocks_.end()) return;
    const ReplayedBlock block = found->second;
    blocks_.erase(found);
    Holding& holding = holdings_[block.stack];
    bytes_ = std::max(0.0, bytes_ - block.bytes);
    holding.blocks -= 1;
    // Sums of doubles: an empty holding is empty.
    holding.bytes = holding.blocks > 0 ? std::max(0.0, holding.bytes - block.bytes) : 0;
    holding.site.freed_bytes += block.bytes;
    holding.site.freed_blocks += 1;
  }

  std::unordered_map<uint64_t, ReplayedBlock> blocks_;
  std::vector<Holding> holdings_;
  double bytes_ = 0;
  double reserved_ = 0;
};

// Of each window of the track: after which event memory was lowest, kNone for a window without
// events, and how low that was.
struct LowMoments {
  static constexpr size_t kNone = static_cast<size_t>(-1);

  std::vector<size_t> event;
  std::vector<double> bytes;
  std::vector<size_t> end;  // The number of events up to the end of the window.

  // By how much the levels of neighbours differ, in the mean.
  [[nodiscard]] double unevenness() const {
    double sum = 0;
    size_t pairs = 0;
    for (size_t i = 1; i < event.size(); ++i) {
      if (event[i] == kNone || event[i - 1] == kNone) continue;
      sum += std::abs(bytes[i] - bytes[i - 1]);
      ++pairs;
    }
    return pairs == 0 ? 0 : sum / static_cast<double>(pairs);
  }

  void halve() {
    for (size_t i = 0; i < event.size(); i += 2) {
      const bool pair = i + 1 < event.size() && event[i + 1] != kNone;
      const size_t lower = pair && (event[i] == kNone || bytes[i + 1] < bytes[i]) ? i + 1 : i;
      event[i / 2] = event[lower];
      bytes[i / 2] = bytes[lower];
      end[i / 2] = pair ? end[i + 1] : end[i];
    }
    const size_t half = (event.size() + 1) / 2;
    event.resize(half);
    bytes.resize(half);
    end.resize(half);
  }
};

}  // namespace plateau
