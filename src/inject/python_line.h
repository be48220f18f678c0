// SPDX-License-Identifier: Apache-2.0
// Runs a line of Python in another process, without installing anything: by that process itself, in
// its main thread, between two bytecodes.
//
// Python keeps a list of calls to be made by its main thread at the next bytecode
// (Py_AddPendingCall, which needs no lock of the interpreter). Two are put there at a safe point:
// PyRun_SimpleString with the line, and sem_post with a semaphore next to the line. When the
// semaphore counts, the line has run. The memory of both stays mapped until then; if Python does
// not come to it in time (its main thread sleeps, or is in C code), it is left there, because the
// calls still will be made.
//
// A line must leave no name behind and swallow every exception: one out of a pending call would
// surface in whatever the program does just then. quiet_python() makes such a line.
#pragma once

#include <cstdint>
#include <string>

#include "inject/inject.h"

namespace plateau {

inline constexpr size_t kPythonPostBytes = 4096;  // Of line and semaphore.

struct PythonDesk {
  uint64_t add_pending = 0;
  uint64_t run_string = 0;
  uint64_t post = 0;   // sem_post
  std::string object;  // That holds the interpreter.
};
Result<PythonDesk> find_python(pid_t pid);

// The statements of `body`, each on a line of its own that begins with a space.
std::string quiet_python(const std::string& body);

// Puts both calls on Python's list; the address of what they use, for await_python_line() and
// SafePoint::unkeep(). Requires: the line is shorter than kPythonPostBytes by 100.
Result<uint64_t> queue_python_line(SafePoint& point, const PythonDesk& desk,
                                   const std::string& line);
// True once it has run.
bool await_python_line(pid_t pid, uint64_t queued, double timeout_s);

// All of that; `left_behind` says so where the line has not run in time.
Result<Intrusion> run_python_line(pid_t pid, const std::string& line, double timeout_s,
                                  const InjectOptions& options = {});

}  // namespace plateau
