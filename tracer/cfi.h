// SPDX-License-Identifier: Apache-2.0
// Call frame information of one x86-64 ELF object: how to step from a function to its caller.
//
// Pure functions over bytes. Nothing outside the given window is read, whatever the bytes say; no
// state, no allocation, any thread.
#pragma once

#include <cstdint>

namespace plateau::trace {

// Where the canonical frame address (the caller's stack pointer after the return) comes from.
enum class FrameBase : uint8_t {
  none,                 // Nothing known about this place, or nothing we understand.
  stack_pointer,        // rsp + cfa_offset
  frame_pointer,        // rbp + cfa_offset
  frame_pointer_deref,  // the word at rbp + cfa_offset: functions that realign their stack
  signal_frame,         // the kernel's frame of a signal handler; rsp points to its ucontext
  end,                  // the outermost function: it has no caller
};

// Where the caller's rbp is. The return address is always at CFA - 8.
enum class SavedFramePointer : uint8_t {
  unchanged,
  at_cfa,            // the word at CFA + saved_offset
  at_frame_pointer,  // the word at rbp + saved_offset
};

struct UnwindRule {
  FrameBase base = FrameBase::none;
  SavedFramePointer saved = SavedFramePointer::unchanged;
  int32_t cfa_offset = 0;
  int32_t saved_offset = 0;
};

// Readable memory that holds .eh_frame_hdr and .eh_frame of an object, at the addresses they are
// mapped at (the tables are full of distances).
struct CfiWindow {
  const uint8_t* begin = nullptr;
  const uint8_t* end = nullptr;
  const uint8_t* index = nullptr;  // .eh_frame_hdr, inside the window
};

// The rule in force when the instruction at `pc` executes. For a return address, ask for the byte
// before it: that is inside the call.
UnwindRule find_unwind_rule(const CfiWindow& window, uint64_t pc) noexcept;

}  // namespace plateau::trace
