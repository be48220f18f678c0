// SPDX-License-Identifier: Apache-2.0
// The detour a thread takes through a called function, and how it finds back even if we are gone.
//
// The function returns into a few instructions of our own, in memory mapped for it: they store its
// result, send the thread a SIGURG (the stop by which we learn that it is done; a signal that is
// ignored unless somebody handles it), and then leave by rt_sigreturn with a signal frame prepared
// beforehand, which holds everything the thread was. As long as we live we put the thread back
// ourselves and the frame is not used. If we are killed in the middle of a call, the kernel
// detaches, the signal comes to nothing, and the frame puts the thread back.
//
// Worked case: a thread stood in read() (rax = -ERESTARTSYS, rip behind `syscall`). The frame says
// rip two bytes earlier and rax = 0, the number of read: the call is made again. A sleep whose rest
// only the kernel knows (-ERESTART_RESTARTBLOCK) cannot be resumed by a frame; it ends with EINTR,
// as after any signal. Blind spot: a thread that waits at a breakpoint of ours when we are killed
// is lost, because debug registers outlive the tracer.
#pragma once

#include <cstdint>
#include <string>

#include "ptrace/tracee.h"

namespace plateau {

// Where things stand in the memory mapped into the target.
struct DetourPlan {
  static constexpr uint64_t kCodeBytes = 4096;
  static constexpr uint64_t kFrameBytes = uint64_t{80} * 1024;  // Signal frame with XSAVE area.
  static constexpr uint64_t kDataBytes = uint64_t{64} * 1024;   // For the caller: place().
  static constexpr uint64_t kStackBytes = uint64_t{512} * 1024;
  static constexpr uint64_t kAllBytes = kCodeBytes + kFrameBytes + kDataBytes + kStackBytes;

  uint64_t base = 0;

  [[nodiscard]] uint64_t code() const { return base; }
  [[nodiscard]] uint64_t frame() const { return base + kCodeBytes; }
  [[nodiscard]] uint64_t result() const { return frame(); }  // First word; the frame follows.
  [[nodiscard]] uint64_t data() const { return frame() + kFrameBytes; }
  [[nodiscard]] uint64_t stack_top() const { return base + kAllBytes; }
};

// The instructions that a called function returns to.
std::string detour_code(const DetourPlan& plan);
// Where the thread stands when it has sent the signal, as an offset into detour_code().
uint64_t detour_stop_offset();

// The bytes for frame(): result word and signal frame that restores `state`.
std::string detour_frame(const DetourPlan& plan, const ThreadState& state);

}  // namespace plateau
