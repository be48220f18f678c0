// SPDX-License-Identifier: Apache-2.0
// An invented heap with invented names, for tests of the profile's views.
#pragma once

#include <string>
#include <vector>

#include "recording/run.h"
#include "report/profile.h"
#include "symbols/stack_names.h"

namespace plateau {

inline FrameName native(std::string function, std::string module) {
  return {.kind = FrameKind::native, .function = std::move(function), .module = std::move(module)};
}
inline FrameName python(std::string function, std::string file, int line) {
  return {.kind = FrameKind::python,
          .function = std::move(function),
          .file = std::move(file),
          .line = line};
}

// A lazily decoded image: allocator, decoder, Python of a library and of a script.
inline std::vector<FrameName> lazy_image_stack() {
  FrameName loop = native("_PyEval_EvalFrameDefault", "python3.11");
  loop.kind = FrameKind::interpreter;
  return {native("malloc", "libc.so.6"),
          native("ImagingNewBlock", "_imaging.so"),
          loop,
          python("load", "/usr/lib/python3/dist-packages/PIL/ImageFile.py", 245),
          python("Image.getpixel", "/usr/lib/python3/dist-packages/PIL/Image.py", 1500),
          python("main", "/home/me/lazy_images.py", 41),
          native("_start", "python3.11")};
}

// A job of which the heap was traced: images that fill a cache, a leak, buffers, a model.
Run example_heap_run();
// Names for its stacks.
NameStack example_names();

}  // namespace plateau
