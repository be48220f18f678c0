// SPDX-License-Identifier: Apache-2.0
// Which part of the work is going on, for whoever counts memory (loop/memory_tracker.h).
//
// One phase for the process, because one thread trains; threads that help it are in its phase. Kept
// here, in a header alone, so that the model can say when it makes logits without knowing a
// tracker.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace plateau::train {

enum class MemoryPhase : uint8_t { other, load, data, forward, backward, logits, optimizer, eval };
inline constexpr size_t kMemoryPhases = 8;

inline std::atomic<MemoryPhase> current_memory_phase{MemoryPhase::other};

// The phase until the end of the scope, then the one before.
class PhaseScope {
 public:
  explicit PhaseScope(MemoryPhase phase) : before_(current_memory_phase.exchange(phase)) {}
  ~PhaseScope() { current_memory_phase.store(before_); }
  PhaseScope(const PhaseScope&) = delete;
  PhaseScope& operator=(const PhaseScope&) = delete;

 private:
  MemoryPhase before_;
};

}  // namespace plateau::train
