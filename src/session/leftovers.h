// SPDX-License-Identifier: Apache-2.0
// What a job leaves behind: finding it and ending it.
//
// We are the job's subreaper, so a process whose parent dies becomes our child, however it was
// started. The job's group and our children, apart from the relays, are therefore all there is.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

namespace plateau {

// Our children now, without those in `known` (relays) and without zombies.
std::vector<pid_t> children_left(std::span<const pid_t> known);

// Asks every child left, its descendants and the group to end; after `grace_s` kills them. Returns
// how many children there were. Reaps what it can.
size_t end_leftovers(pid_t group, std::span<const pid_t> known, double grace_s);

}  // namespace plateau
