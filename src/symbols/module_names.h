// SPDX-License-Identifier: Apache-2.0
// Names of addresses in one ELF file: from its debug information, else from its symbol tables.
//
// The file is opened at the first question and only used if its build id is the recorded one; a
// debug file that has that build id is used even if the file itself is gone. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hidden.h"
#include "symbols/stack_names.h"

namespace plateau {

struct NativeNames {
  std::vector<FrameName> frames;     // Inlined calls first, the function itself last; never empty.
  std::vector<std::string> symbols;  // Of each: as the linker knows it; "" if not known.
};

class ModuleNames {
 public:
  // `build_id`: raw bytes; empty if the file that ran had none. `ask_servers`: see debug_file.h.
  ModuleNames(std::string path, std::string build_id, bool ask_servers = true);

  // `address` is one in the file.
  NativeNames at(uint64_t address);

  // Why there are fewer names than there could be; "" if there is nothing to say. Known after the
  // first at().
  [[nodiscard]] const std::string& note() const;

 private:
  struct State;
  Hidden<State> state_;
};

// The last part of a path.
std::string base_name(const std::string& path);

}  // namespace plateau
