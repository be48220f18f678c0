// SPDX-License-Identifier: Apache-2.0
// The functions of an ELF file by address, from its symbol tables alone.
//
// Names point into the mapped file: the table is valid while the files it was made from are open.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "symbols/elf_file.h"

namespace plateau {

class SymbolTable {
 public:
  // Takes the functions of .symtab, else of .dynsym. False if the file has neither.
  bool add(const ElfFile& file);

  // The name of the function that holds `address`; "" if none does.
  [[nodiscard]] std::string_view at(uint64_t address) const;

 private:
  struct Function {
    uint64_t address = 0;
    uint64_t bytes = 0;  // Never 0: filled in up to the next function where the file does not say.
    std::string_view name;
    int rank = 0;  // Of several names for one address the lowest is shown.
  };
  std::vector<Function> functions_;
};

}  // namespace plateau
