// SPDX-License-Identifier: Apache-2.0
#include "symbols/symbol_table.h"

#include <algorithm>

namespace plateau {
namespace {

// Functions can contain others (assembly with local entry points). So many neighbours are tried.
constexpr size_t kMostNested = 16;
// The last function of a file that does not say how long it is.
constexpr uint64_t kUnknownBytes = 4096;

// A reader knows malloc, not __libc_malloc.
int rank_of(const ElfSymbolEntry& entry) {
  const int binding = entry.bind == STB_GLOBAL ? 0 : entry.bind == STB_WEAK ? 1 : 2;
  return (entry.name.starts_with('_') && !entry.name.starts_with("_Z") ? 4 : 0) + binding;
}

}  // namespace

bool SymbolTable::add(const ElfFile& file) {
  const auto take = [&](const ElfSymbolEntry& entry) {
    if (entry.type == STT_FUNC || entry.type == STT_GNU_IFUNC) {
      functions_.push_back({.address = entry.address,
                            .bytes = entry.bytes,
                            .name = entry.name,
                            .rank = rank_of(entry)});
    }
    return true;
  };
  const size_t before = functions_.size();
  file.each_symbol(SHT_SYMTAB, take);
  if (functions_.size() == before) file.each_symbol(SHT_DYNSYM, take);
  if (functions_.size() == before) return false;

  std::ranges::sort(functions_, [](const Function& a, const Function& b) {
    return a.address != b.address ? a.address < b.address : a.rank < b.rank;
  });
  const auto same = [](const Function& a, const Function& b) { return a.address == b.address; };
  functions_.erase(std::unique(functions_.begin(), functions_.end(), same), functions_.end());
  for (size_t i = 0; i < functions_.size(); ++i) {
    if (functions_[i].bytes > 0) continue;
    functions_[i].bytes = i + 1 < functions_.size()
                              ? functions_[i + 1].address - functions_[i].address
                              : kUnknownBytes;
  }
  functions_.shrink_to_fit();
  return true;
}

std::string_view SymbolTable::at(uint64_t address) const {
  auto next = std::ranges::upper_bound(functions_, address, {}, &Function::address);
  for (size_t i = 0; i < kMostNested && next != functions_.begin(); ++i) {
    --next;
    if (address - next->address < next->bytes) return next->name;
  }
  return {};
}

}  // namespace plateau
