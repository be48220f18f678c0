// SPDX-License-Identifier: Apache-2.0
// An ELF file opened for reading through libelf. Move-only; closes itself.
//
// Takes any file: one that is no ELF file, is cut short or is damaged opens with an error or shows
// fewer sections, symbols or segments than it should. Only regular files are opened, because
// opening a device can have effects of its own. Not thread-safe.
#pragma once

#include <libelf.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace plateau {

struct ElfSegment {
  uint64_t address = 0;  // p_vaddr
  uint64_t offset = 0;   // p_offset
  uint64_t file_bytes = 0;
  uint64_t memory_bytes = 0;
};

struct ElfSymbolEntry {
  std::string_view name;  // With its version, if the table has it in the name ("f@@V_1").
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint8_t type = 0;  // STT_*
  uint8_t bind = 0;  // STB_*
  bool hidden_version = false;
};

class ElfFile {
 public:
  static Result<ElfFile> open(const std::string& path);

  [[nodiscard]] Elf* elf() const { return elf_.get(); }

  // Loadable segments in the order of the file.
  [[nodiscard]] std::vector<ElfSegment> segments() const;

  // Raw bytes of the build id; empty if there is none.
  [[nodiscard]] std::string build_id() const;

  // Bytes of the section of that name; empty if there is none. Points into the open file.
  [[nodiscard]] std::string_view section(std::string_view name) const;

  // Calls visit for every defined symbol of the first section of `type` (SHT_SYMTAB or
  // SHT_DYNSYM), until it returns false. False if there is no such section.
  bool each_symbol(uint32_t type, const std::function<bool(const ElfSymbolEntry&)>& visit) const;

 private:
  struct End {
    void operator()(Elf* elf) const { elf_end(elf); }
  };
  ElfFile(Fd fd, std::unique_ptr<Elf, End> elf) : fd_(std::move(fd)), elf_(std::move(elf)) {}
  Fd fd_;
  std::unique_ptr<Elf, End> elf_;  // Ends before its file is closed.
};

}  // namespace plateau
