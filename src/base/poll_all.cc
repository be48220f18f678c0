// SPDX-License-Identifier: Apache-2.0
#include "base/poll_all.h"

#include <cerrno>

namespace plateau {

int poll_all(std::span<pollfd> polled, int timeout_ms) {
  constexpr int kPauseMs = 50;
  int ready = poll(polled.data(), polled.size(), timeout_ms);
  if (ready >= 0 || errno != EINVAL) return ready;
  const bool soon = timeout_ms >= 0 && timeout_ms < kPauseMs;
  poll(nullptr, 0, soon ? timeout_ms : kPauseMs);
  ready = 0;
  for (pollfd& one : polled) {
    // Where not even one is allowed, reading tells.
    if (poll(&one, 1, 0) < 0) one.revents = one.fd >= 0 ? one.events : static_cast<short>(0);
    ready += one.revents != 0 ? 1 : 0;
  }
  return ready;
}

}  // namespace plateau
