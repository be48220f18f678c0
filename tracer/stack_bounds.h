// SPDX-License-Identifier: Apache-2.0
// Which addresses of a stack may be read without a fault.
//
// The stack of the main thread ends where the loader says, the stack of any other thread ends in
// its control block, to which the thread pointer points: between the stack pointer and that end
// everything is mapped, once a look at every page of a thread's stack has shown that the stack
// pointer is on it. On any other stack (a fiber's, an alternate signal stack) nothing is known, so
// each page is tried before it is read, anew in every walk, because such stacks come and go.
#pragma once

#include <cstdint>

#include "tracer/at_address.h"

namespace plateau::trace {

class StackBounds {
 public:
  // Finds out which stack `sp` is on.
  void enter(uint64_t sp) noexcept;

  // May the 8 bytes at `address` be read? Only addresses at or above the entered sp may.
  bool readable(uint64_t address) noexcept {
    return address - low_ < span_ || (!anchored_ && readable_slowly(address));
  }

  // The stack is mapped as long as the thread lives.
  bool anchored() const noexcept { return anchored_; }

 private:
  bool readable_slowly(uint64_t address) noexcept;

  uint64_t low_ = 0;
  uint64_t span_ = 0;  // Of addresses at which 8 readable bytes start.
  bool anchored_ = false;
  uint64_t floor_ = 0;
};

// A word of the stack. What a sanitizer puts between variables is as good as any other word.
[[gnu::no_sanitize_address]] inline uint64_t stack_word(uint64_t address) noexcept {
  return *at_address<uint64_t>(address);
}

// Of this thread: its stack reaches from here to the thread pointer.
void know_thread_stack(uint64_t low) noexcept;

// Asks the kernel whether the 8 bytes at this address, which is a multiple of 8, can be read. False
// where nothing may be asked.
bool page_is_readable(uint64_t address) noexcept;

}  // namespace plateau::trace
