// SPDX-License-Identifier: Apache-2.0
// Whether a process is in a sandbox of its own: under more filters on system calls (seccomp) than
// we are and than the ancestors in its PID namespace are. A container's profile holds for all of
// them and lets a loader work; a filter that a program or its service puts on may kill it for that.
#pragma once

#include <sys/types.h>

namespace plateau {

bool has_filter_of_its_own(pid_t pid);

}  // namespace plateau
