// SPDX-License-Identifier: Apache-2.0
// One stack out of two: native frames and the Python frames that ran on them.
//
// Pure. See merge_frames.cc for the rules.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "symbols/stack_names.h"

namespace plateau {

// One return address with its names.
struct NativeFrame {
  std::vector<FrameName> names;  // Inlined calls first, the function itself last.
  bool runs_python = false;      // It is, or has inlined, CPython's interpreter loop.
  bool of_interpreter = false;   // In the executable or library that is CPython.
};

struct NamedPythonFrame {
  FrameName name;
  bool entry = false;  // As PythonFrame::entry.
};

// All innermost first, the result too. No Python frame is ever lost.
std::vector<FrameName> merge_frames(const std::vector<NativeFrame>& native,
                                    const std::vector<NamedPythonFrame>& python, bool truncated);

// The interpreter loop itself or a piece of it that the compiler split off. `symbol` as the linker
// knows it.
bool is_interpreter_loop(std::string_view symbol);

// Call machinery of CPython: says how a call was made, not what was called.
bool is_call_machinery(std::string_view symbol);

// "python3.11", "libpython3.12.so.1.0".
bool is_interpreter_file(std::string_view base_name);

}  // namespace plateau
