// SPDX-License-Identifier: Apache-2.0
// Names for the stacks of a heap track: native frames from ELF and DWARF by build id, Python frames
// from the code objects that were recorded, both merged into one stack as a reader expects it.
//
// Merging: while native frames stand in CPython's interpreter loop, the Python frames that this
// call of the loop ran take their place; helpers of the interpreter itself (call machinery, method
// descriptors) are marked as such so that a view can hide them.
//
// Not thread-safe. Files are opened read-only and only if their build id is the recorded one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hidden.h"
#include "recording/heap_track.h"

namespace plateau {

enum class FrameKind : uint8_t {
  native,       // Code of a program or library.
  inlined,      // Inlined into the next native frame outwards.
  python,       // A line of Python.
  interpreter,  // CPython's own machinery between Python frames.
};

struct FrameName {
  FrameKind kind = FrameKind::native;
  std::string function;  // Demangled; "" if not known.
  std::string file;      // Source file; "" if not known.
  int line = 0;          // 0 if not known.
  std::string module;    // Base name of the ELF file; "" for Python.
  uint64_t offset = 0;   // In the ELF file: "libx.so+0x1234" when there is no function.
};

// "decode (image.py:12)", "ImagingNew [_imaging.so]", "libx.so+0x1234".
std::string frame_title(const FrameName& frame);

class StackNames {
 public:
  // `track` must outlive this.
  explicit StackNames(const HeapTrack& track);

  // Innermost first. Memoised per address.
  std::vector<FrameName> frames(const HeapStack& stack);

  // "libfoo.so is not the file that ran (build id differs)", each said once.
  [[nodiscard]] const std::vector<std::string>& notes() const;

 private:
  struct State;
  Hidden<State> state_;
};

// The source line of a bytecode offset; the first line if the table does not say.
int python_line(const PythonCode& code, int32_t instruction);

}  // namespace plateau
