// SPDX-License-Identifier: Apache-2.0
// Functions, inlined calls and lines by address, from the debug information of one file.
//
// See dwarf_index.cc for the method. Not thread-safe. Takes damaged debug information: what cannot
// be read gives no names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/hidden.h"
#include "symbols/elf_file.h"

namespace plateau {

struct CodeLocation {
  std::string symbol;  // As the linker knows it, else as the source does; "" if not described.
  std::string file;
  int line = 0;
  bool inlined = false;  // Into the next one.
};

class DwarfIndex {
 public:
  static constexpr size_t kMostBytes = size_t{128} << 20;

  // `file` must outlive this.
  explicit DwarfIndex(const ElfFile& file, size_t most_bytes = kMostBytes);

  // False: the file has no debug information.
  [[nodiscard]] bool usable() const;

  // Innermost inlined call first, the function itself last; empty if not known. The address is
  // one in the file.
  std::vector<CodeLocation> at(uint64_t address);

  // What the index holds, roughly; passes `most_bytes` by one unit at most.
  [[nodiscard]] size_t bytes() const;

 private:
  struct State;
  Hidden<State> state_;
};

}  // namespace plateau
