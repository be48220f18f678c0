// SPDX-License-Identifier: Apache-2.0
#include "tracer/python_layout.h"

namespace plateau {
namespace {

constexpr PythonLayout kLayouts[] = {
#include "tracer/python_layout.inc"
};

}  // namespace

const PythonLayout* python_layout(int minor) noexcept {
  for (const PythonLayout& layout : kLayouts) {
    if (layout.minor == minor) return &layout;
  }
  return nullptr;
}

}  // namespace plateau
