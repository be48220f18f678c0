// SPDX-License-Identifier: Apache-2.0
// Where a named symbol stands in an ELF file, and where that file stands in a process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace plateau {

struct ElfSymbol {
  uint64_t address = 0;  // As in the file; add the bias of the mapping.
  uint64_t bytes = 0;    // 0 if the file does not say.
};

// From .symtab, else .dynsym. An error if the file cannot be read or has no such symbol.
Result<ElfSymbol> elf_symbol(const std::string& path, std::string_view name);

// A file mapped into a process.
struct MappedObject {
  std::string path;       // As the process sees it.
  std::string open_path;  // As we can open it: through /proc/PID/root or /proc/PID/map_files.
  uint64_t begin = 0;     // Lowest and highest mapped address.
  uint64_t end = 0;
  uint64_t bias = 0;  // Address in memory minus address in the file.
};

// All ELF files mapped into `pid`, in order of address. Empty if its maps cannot be read.
std::vector<MappedObject> mapped_objects(pid_t pid);

// The address of `name` in the process: the first object that defines it, in order of address.
// `object_contains` narrows the objects by a part of their path ("libc.so"); empty: all.
std::optional<uint64_t> remote_symbol(pid_t pid, std::string_view object_contains,
                                      std::string_view name);

}  // namespace plateau
