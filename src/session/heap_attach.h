// SPDX-License-Identifier: Apache-2.0
// The heap of a process that already runs: a keeper, and the tracer loaded into the process.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "heap/keeper.h"
#include "recording/heap_track.h"
#include "session/heap_watch.h"

namespace plateau {

using SaySentence = std::function<void(const std::string&)>;

// Loads the tracer into `pid`, to write where the keeper of `watch` reads. Says how long a thread
// stood still. nullopt if done; the process is as it was otherwise.
std::optional<Error> attach_heap(pid_t pid, const KeeperOptions& options, const HeapWatch& watch,
                                 const SaySentence& say);
// Takes it out again, if the process still lives; says what could not be done.
void detach_heap(pid_t pid, const SaySentence& say);

// Traces a running process for a while and returns what was kept of it; for processes that are not
// watched otherwise. Rows are by time; there are no steps. Ends early if the process does, or when
// SIGINT, SIGTERM or SIGHUP comes; the tracer is taken out in any case.
Result<std::vector<HeapTrack>> trace_for(pid_t pid, double seconds, const KeeperOptions& options,
                                         const SaySentence& say);

}  // namespace plateau
