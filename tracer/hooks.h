// SPDX-License-Identifier: Apache-2.0
// The hooks, by the name of what they stand for.
//
// A preloaded tracer is found by the names it exports. One that is attached to a running process
// exports nothing that anybody looks for; there, the entries below are put into the global offset
// tables of the loaded objects (got.cc). Those count who is inside, so that detaching can wait.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plateau::trace {

struct HookEntry {
  const char* name;  // "malloc"
  void* hook;        // plateau_malloc
};
extern const HookEntry kHooks[];
extern const size_t kHookCount;

// Threads that are between entry and exit of an attached hook. Not seen are the few instructions
// before and after the counting, and an operator new that threw is never taken off.
int64_t threads_inside() noexcept;

}  // namespace plateau::trace

// Found by name by whoever attaches, so exported: packages are stripped. Both return 0 if done.
extern "C" int plateau_tracer_attach(const char* spec);
extern "C" int plateau_tracer_detach();
