// SPDX-License-Identifier: Apache-2.0
// The least a stack can be: the caller, and what the chain of frame pointers adds to it.
#include "tracer/stack.h"

namespace plateau::trace {

void capture_stack(RawStack& out, uint64_t caller, const void* frame) noexcept {
  constexpr uint64_t kMaxStep = 65536;
  // glibc puts the thread's own block at the upper end of its stack; the main thread's is
  // elsewhere, and there only the caller is taken.
  const auto limit = reinterpret_cast<uint64_t>(__builtin_thread_pointer());
  out.native = 1;
  out.native_frames[0] = caller;
  auto at = reinterpret_cast<uint64_t>(frame);
  if (limit > at && limit - at < (uint64_t{64} << 20)) {
    while (out.native < kMaxNativeFrames) {
      const uint64_t next = *reinterpret_cast<const uint64_t*>(at);
      if (next <= at || next - at > kMaxStep || next + 16 > limit || next % 8 != 0) {
        break;
      }
      const uint64_t address = *reinterpret_cast<const uint64_t*>(next + 8);
      if (address < 4096) {
        break;
      }
      out.native_frames[out.native++] = address;
      at = next;
    }
  }
  uint64_t hash = 0x9e3779b97f4a7c15;
  for (uint32_t i = 0; i < out.native; ++i) {
    hash = (hash ^ out.native_frames[i]) * 0xff51afd7ed558ccd;
    hash ^= hash >> 33;
  }
  out.id = hash | 1;
}

void forget_modules() noexcept {}
void announce_all_again() noexcept {}

}  // namespace plateau::trace
