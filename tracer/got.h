// SPDX-License-Identifier: Apache-2.0
// Puts the hooks into the global offset tables of a running process, and takes them out again.
//
// For a tracer that was loaded into a process by an injector, which calls these one after the
// other, each at a safe point: plateau_tracer_attach(spec), plateau_tracer_patch(); later
// plateau_tracer_unpatch(), then, as soon as plateau_tracer_inside() says 0,
// plateau_tracer_detach(), and dlclose. They are hidden and found through the symbol table.
#pragma once

#include <cstdint>

extern "C" {
// How many slots lead to a hook now; 0: nothing could be patched.
int64_t plateau_tracer_patch();
// How many slots were given back. Slots that somebody else has changed since are left alone.
int64_t plateau_tracer_unpatch();
// Threads that are inside a hook.
int64_t plateau_tracer_inside();
}
