// SPDX-License-Identifier: Apache-2.0
// poll(2) that also answers where the limit on descriptors was lowered below what is open.
#pragma once

#include <poll.h>

#include <span>

namespace plateau {

// As poll(2). Where the kernel refuses the number (EINVAL: it is above RLIMIT_NOFILE) it waits 50
// ms at most, and each descriptor is looked at by itself. Requires: reading from them does not
// block.
int poll_all(std::span<pollfd> polled, int timeout_ms);

}  // namespace plateau
