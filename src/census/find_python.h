// SPDX-License-Identifier: Apache-2.0
// Where a process keeps its Python interpreter, and which version it is.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/result.h"
#include "census/heap_walk.h"
#include "census/memory_reader.h"

namespace plateau {

// "pid 4242 cannot be read: REASON; REMEDY".
Error unreadable(pid_t pid, std::string_view reason, std::string_view remedy = "");

// What a path says of the version: "libpython3.13t.so.1.0" is 13 and free-threaded.
struct PythonName {
  int minor = -1;  // -1: the path does not say.
  bool free_threaded = false;
};
PythonName python_name(std::string_view path);

// Whether objects of CPython 3.`minor` can be read.
bool census_knows(int minor);

// The versions for which it can: "3.8 to 3.14".
std::string known_pythons();

// What _PyRuntime at `runtime` says of itself; before 3.13 that is nothing, and `named` decides.
Result<PythonPlace> place_of_runtime(pid_t pid, MemoryReader& memory, uint64_t runtime,
                                     PythonName named);

// Reads the files that the process has mapped, then a few words of its memory through `memory`;
// it need not stand still. Refuses what is not a CPython of the table with a global lock.
Result<PythonPlace> find_python(pid_t pid, MemoryReader& memory);

// Whether there is a CPython in it at all, told by the files it has mapped: this needs no
// permission to look into its memory.
bool is_python(pid_t pid);

}  // namespace plateau
