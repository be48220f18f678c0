// SPDX-License-Identifier: Apache-2.0
// Where the debug information of a stripped file may be.
//
// In this order: by build id under /usr/lib/debug/.build-id, by the name in .gnu_debuglink beside
// the file, in .debug beside it and under /usr/lib/debug, and, only if the user has set
// DEBUGINFOD_URLS, from a debuginfod server through elfutils' client library, if that is there. A
// file is taken only if its build id is the one asked for (by check sum where there is no build
// id).
#pragma once

#include <optional>
#include <string>

#include "symbols/elf_file.h"

namespace plateau {

struct DebugFileRequest {
  std::string path;      // Of the stripped file; need not exist.
  std::string build_id;  // Raw bytes; may be empty.
  std::string debug_root = "/usr/lib/debug";
  bool ask_servers = true;  // If the user has named any.
};

// Whether servers could be asked: elfutils' client library is there, and this program can load it.
bool can_ask_servers();

// `stripped` is the file at `path` if that could be opened and is the right one; else null.
std::optional<ElfFile> find_debug_file(const DebugFileRequest& request, const ElfFile* stripped);

}  // namespace plateau
