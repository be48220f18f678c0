// SPDX-License-Identifier: Apache-2.0
#include "tracer/python_layout.h"

#include <iterator>

namespace plateau {
namespace {

constexpr PythonLayout kLayouts[] = {
#include "tracer/python_layout.inc"
};

static_assert(std::begin(kLayouts)->minor == kOldestPythonMinor);
static_assert(std::rbegin(kLayouts)->minor == kNewestPythonMinor);

}  // namespace

const PythonLayout* python_layout(int minor) noexcept {
  for (const PythonLayout& layout : kLayouts) {
    if (layout.minor == minor) return &layout;
  }
  return nullptr;
}

}  // namespace plateau
