// SPDX-License-Identifier: Apache-2.0
#include "symbols/module_names.h"

#include <optional>
#include <utility>

#include "symbols/debug_file.h"
#include "symbols/demangle.h"
#include "symbols/dwarf_index.h"
#include "symbols/elf_file.h"
#include "symbols/symbol_table.h"

namespace plateau {

std::string base_name(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

struct ModuleNames::State {
  std::string path;
  std::string name;
  std::string build_id;
  std::string note;
  bool opened = false;
  bool ask_servers = true;
  // The order matters: what is declared later points into what is declared earlier.
  std::optional<ElfFile> file;
  std::optional<ElfFile> debug;
  std::optional<DwarfIndex> dwarf;
  SymbolTable symbols;

  void open() {
    opened = true;
    // "[vdso]" and the like stand for no file, and nobody misses one.
    const bool a_file = path.starts_with('/');
    if (a_file) open_file();
    if (a_file || !build_id.empty()) open_debug();
  }

  void open_file() {
    auto candidate = ElfFile::open(path);
    if (!candidate) {
      note = name + " cannot be opened any more: its functions stay unnamed";
      return;
    }
    if (candidate.value().build_id() != build_id) {
      note = name + " is not the file that ran (build id differs): its functions stay unnamed";
      return;
    }
    file.emplace(std::move(candidate.value()));
    symbols.add(*file);
  }

  void open_debug() {
    if (file) dwarf.emplace(*file);
    if (dwarf && dwarf->usable()) return;
    dwarf.reset();
    debug = find_debug_file({.path = path, .build_id = build_id, .ask_servers = ask_servers},
                            file ? &*file : nullptr);
    if (!debug) return;
    note.clear();
    dwarf.emplace(*debug);
    // The table of the stripped file holds only what it exports.
    SymbolTable all;
    if (all.add(*debug)) symbols = std::move(all);
  }
};

ModuleNames::ModuleNames(std::string path, std::string build_id, bool ask_servers)
    : state_(make_hidden<State>()) {
  state_->name = base_name(path);
  state_->path = std::move(path);
  state_->build_id = std::move(build_id);
  state_->ask_servers = ask_servers;
}

const std::string& ModuleNames::note() const {
  return state_->note;
}

NativeNames ModuleNames::at(uint64_t address) {
  if (!state_->opened) state_->open();
  NativeNames names;
  if (state_->dwarf) {
    for (CodeLocation& place : state_->dwarf->at(address)) {
      names.frames.push_back({.kind = place.inlined ? FrameKind::inlined : FrameKind::native,
                              .function = demangled(place.symbol),
                              .file = std::move(place.file),
                              .line = place.line,
                              .module = state_->name,
                              .offset = address});
      names.symbols.push_back(std::move(place.symbol));
    }
  }
  const std::string symbol(state_->symbols.at(address));
  if (names.frames.empty()) {
    names.frames.push_back(
        {.function = demangled(symbol), .module = state_->name, .offset = address});
    names.symbols.push_back(symbol);
  } else if (names.symbols.back().empty() ||
             (symbol.starts_with("_Z") && !names.symbols.back().starts_with("_Z"))) {
    // Equal functions are described once, and -g1 describes them by their short names.
    names.frames.back().function = demangled(symbol);
    names.symbols.back() = symbol;
  }
  return names;
}

}  // namespace plateau
