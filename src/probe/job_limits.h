// SPDX-License-Identifier: Apache-2.0
// What a job may run out of that is not memory as such: the file system behind /dev/shm, and the
// limit on its address space.
//
// A worker that hands a batch over through a full /dev/shm dies of a bus error, with gigabytes free
// (containers have 64 MB there by default); under `ulimit -v` an allocation fails that the machine
// could have served. Both are read where the main process sees them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "probe/snapshot.h"

namespace plateau {

// Fills shm_size_kb, shm_used_kb and address_limit_kb of `snapshot` for its main process, else its
// root; what cannot be read stays kUnread. Two small files; microseconds.
void read_job_limits(const std::string& proc, Snapshot& snapshot);

// The soft limit on address space in a /proc/PID/limits, in kB; nothing if it is unlimited.
std::optional<int64_t> address_limit_of(std::string_view limits);

}  // namespace plateau
