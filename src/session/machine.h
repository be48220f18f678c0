// SPDX-License-Identifier: Apache-2.0
// Small questions about this machine and this process that the live loops ask.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/files.h"
#include "probe/snapshot.h"

namespace plateau {

double own_cpu_s();  // User and system time of this process, children not counted.
std::string host_name();

// How often the kernel has killed for want of memory since boot; -1 if it does not say.
int64_t oom_kills_of_machine();

// Whether `pid` catches the signal (SigCgt); false if that cannot be read.
bool handles_signal(pid_t pid, int number);

// The command line of `pid`, as a shell would take it; "" if it cannot be read.
std::string command_of(pid_t pid, const std::string& proc);

// What counts against a limit: owned memory of the tree, shared memory mapped or not, and swap.
double held_mb(const Snapshot& snapshot);

// What a cgroup is charged for and cannot give back: anonymous and shared memory, as far as known.
double charged_mb(const CgroupSample& group);

// The command as a shell would take it, quoted where needed.
std::string shell_words(std::span<const std::string> words);

}  // namespace plateau
