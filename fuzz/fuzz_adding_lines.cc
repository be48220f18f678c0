// SPDX-License-Identifier: Apache-2.0
// Python programs in which the lines are looked for that fill a container. The first byte chooses
// what is looked for; the rest is the program.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "census/adding_lines.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using Scope = plateau::GrowingName::Scope;
  if (size == 0) return 0;
  constexpr std::array<const char*, 4> kPaths = {"a", "a.b", "a['b']", "a[*]"};
  const plateau::GrowingName wanted{.scope = static_cast<Scope>(data[0] % 4),
                                    .path = kPaths[data[0] / 4 % 4],
                                    .function = "f",
                                    .owner = "m.C",
                                    .line = data[0] / 16 % 4,
                                    .assigned = data[0] >= 128};
  const std::string_view source(reinterpret_cast<const char*>(data) + 1, size - 1);
  for (const plateau::AddingLine& each : plateau::find_adding_lines(source, wanted)) {
    if (each.line < 1 || each.made_line < 0) std::abort();
  }
  return 0;
}
