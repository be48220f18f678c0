// SPDX-License-Identifier: Apache-2.0
// The id of a traced process as this process knows it. In its segment a process has the id of its
// own namespace, where there may be a process of that id here too.
#pragma once

#include <sys/types.h>

#include <optional>

#include "heap/mapped_segment.h"

namespace plateau {

// Looks among all processes if need be. Nothing if it is of another namespace and not found: it may
// be over already, or hidden.
std::optional<pid_t> pid_seen_from_here(const MappedSegment& segment);

}  // namespace plateau
