// SPDX-License-Identifier: Apache-2.0
// What the time is, in seconds. Parsers and verdicts take times as arguments instead; these are for
// the loops that wait, and for what is measured about ourselves.
#pragma once

#include <ctime>

namespace plateau {

// The reading of one of the kernel's clocks.
inline double clock_s(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Never goes back; its zero means nothing, and it stands still while the machine sleeps.
inline double monotonic_now_s() {
  return clock_s(CLOCK_MONOTONIC);
}

// Since 1970, as the machine's clock is set.
inline double unix_now_s() {
  return clock_s(CLOCK_REALTIME);
}

}  // namespace plateau
