// SPDX-License-Identifier: Apache-2.0
// Line tables of CPython. The first byte chooses the version, the next two the instruction, the
// following two the first line; the rest is the table.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "symbols/stack_names.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 5) return 0;
  const plateau::PythonCode code{.first_line = data[3] + 256 * data[4],
                                 .minor = static_cast<uint16_t>(8 + data[0] % 6),
                                 .line_table = {reinterpret_cast<const char*>(data) + 5, size - 5}};
  if (plateau::python_line(code, data[1] + 256 * data[2]) < 0) std::abort();
  if (plateau::python_line(code, -1) != code.first_line) std::abort();
  return 0;
}
