// SPDX-License-Identifier: Apache-2.0
// `plateau watch --all`: every training job of a node, as they come and go.
//
// One process, one loop. Every kSearchEveryS the node's processes are looked through for Python
// jobs that map torch, CUDA, JAX or TensorFlow (probe/sampler.h); each that is new is watched like
// a `watch PID` of its own, kept in memory only, until it ends. A line says that one was found, and
// one what came of it. Their figures go where --push and --textfile say.
//
// Cost: that of watching, for each job; for the search, two small files of every process of the
// node. Blind spot: a trainer that is no Python, and a job that ends before the next search.
#pragma once

#include <optional>

#include "cli/push_options.h"
#include "cli/watch_loop.h"
#include "command/verb.h"
#include "session/watcher.h"

namespace plateau {

inline constexpr double kSearchEveryS = 10;
inline constexpr size_t kMostJobs = 64;  // At once; more are left alone, which is said.

struct WatchAllRequest {
  WatchOptions watch;  // For each job; its pid is filled in.
  LookOptions look;
  PushRequest push;
};

// What of `arguments` cannot go with --all, if anything.
std::optional<Error> not_with_all(const Arguments& arguments);

// Until somebody asks to stop, or the time is up.
int watch_all(const Invocation& invocation, const WatchAllRequest& request);

}  // namespace plateau
