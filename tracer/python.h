// SPDX-License-Identifier: Apache-2.0
// The Python interpreter of this process, if it has one.
//
// It is found when a call stack first leads through the object that holds it, by looking into that
// object's own symbol table: nothing of it is linked, and the loader's lock is never taken. Any
// thread, no allocation.
#pragma once

#include <cstdint>

#include "tracer/objects.h"
#include "tracer/python_layout.h"
#include "tracer/segment.h"

namespace plateau::trace {

// The public PyMemAllocatorEx.
struct PythonAllocator {
  void* context = nullptr;
  void* (*malloc)(void* context, size_t bytes) = nullptr;
  void* (*calloc)(void* context, size_t count, size_t bytes) = nullptr;
  void* (*realloc)(void* context, void* block, size_t bytes) = nullptr;
  void (*free)(void* context, void* block) = nullptr;
};

// Domains of Python's allocators, by their public numbers.
enum class PythonDomain : int { raw = 0, mem = 1, object = 2 };

struct PythonInterpreter {
  const PythonLayout* layout = nullptr;
  uint64_t begin = 0;  // Of the object that holds the interpreter.
  uint64_t end = 0;
  uint64_t code_type = 0;  // &PyCode_Type and so on
  uint64_t text_type = 0;
  uint64_t bytes_type = 0;
  void* (*this_thread_state)() = nullptr;
  int (*holds_gil)() = nullptr;
  void (*get_allocator)(PythonDomain, PythonAllocator*) = nullptr;
  void (*set_allocator)(PythonDomain, PythonAllocator*) = nullptr;
};

// The interpreter found so far; nullptr before, and for versions and builds that are not known
// (free-threaded ones, 3.7 and older, 3.14 and newer).
const PythonInterpreter* python_interpreter() noexcept;

// Looks whether this object holds the interpreter.
void look_for_python(const LoadedObject& object) noexcept;

// The object may be unloaded: do not call into it again before it is found anew.
void forget_python() noexcept;

// What a mapping of `bytes` made by the code at `caller` is for: an arena of small Python objects
// if the interpreter asked for it and it has an arena's size.
BlockKind mapping_kind(uint64_t caller, uint64_t bytes) noexcept;

struct PythonWalk {
  uint32_t count = 0;
  bool truncated = false;
  uint64_t hash = 0;
};

// The Python frames of this thread, innermost first; none if it runs no Python code. Code objects
// met for the first time are announced.
PythonWalk walk_python(PythonFrameWords* frames, uint32_t room) noexcept;

// Code objects are announced anew from now on.
void forget_announced_code() noexcept;

}  // namespace plateau::trace
