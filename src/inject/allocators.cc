// SPDX-License-Identifier: Apache-2.0
#include "inject/allocators.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/files.h"
#include "ptrace/refusal.h"

namespace plateau {
namespace {

constexpr auto kEntryNames =
    std::to_array<std::string_view>({"malloc", "free", "calloc", "realloc"});

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_loader(std::string_view path) {
  const std::string_view name = file_name(path);
  return name.starts_with("ld-linux") || name.starts_with("ld-2.") || name.starts_with("ld.so");
}

bool is_tracer(std::string_view path) {
  return file_name(path).starts_with("libplateau_tracer");
}

bool is_libc(std::string_view path) {
  const std::string_view name = file_name(path);
  return name.starts_with("libc.so") || name.starts_with("libc-2.") || name.starts_with("ld-musl");
}

// A symbol tells more than the name of a file: the allocator may be linked into the program.
AllocatorFamily family_of(const MappedObject& object) {
  const auto has = [&](std::string_view name) { return elf_symbol(object.open_path, name).ok(); };
  if (has("mallctl") || has("je_mallctl")) return AllocatorFamily::jemalloc;
  if (has("MallocExtension_ReleaseFreeMemory")) return AllocatorFamily::tcmalloc;
  if (has("mi_collect")) return AllocatorFamily::mimalloc;
  if (has("malloc_trim")) return AllocatorFamily::glibc;
  return AllocatorFamily::other;
}

// A Python loop may run for hours without a call of malloc: small objects come from arenas of
// Python's own. Their functions are as good a place, and a process has four breakpoints.
void add_python_entries(const std::string& program, const std::vector<MappedObject>& objects,
                        TargetAllocator& allocator) {
  for (const MappedObject& object : objects) {
    if (object.path != program && file_name(object.path).find("libpython") == std::string::npos) {
      continue;
    }
    const Result<ElfSymbol> make = elf_symbol(object.open_path, "PyObject_Malloc");
    const Result<ElfSymbol> drop = elf_symbol(object.open_path, "PyObject_Free");
    if (!make.ok() || !drop.ok()) continue;
    allocator.entries.resize(std::min<size_t>(allocator.entries.size(), 2));
    allocator.entry_names.resize(allocator.entries.size());
    allocator.entries.push_back(make.value().address + object.bias);
    allocator.entries.push_back(drop.value().address + object.bias);
    allocator.entry_names.emplace_back("PyObject_Malloc");
    allocator.entry_names.emplace_back("PyObject_Free");
    return;
  }
}

}  // namespace

std::string_view allocator_name(AllocatorFamily family) {
  constexpr std::array<std::string_view, 5> kNames = {"glibc", "jemalloc", "tcmalloc", "mimalloc",
                                                      "other"};
  return kNames[static_cast<size_t>(family)];
}

Result<TargetAllocator> find_allocator(pid_t pid, const std::vector<MappedObject>& objects) {
  const std::string program = link_target(fmt::format("/proc/{}/exe", pid));
  const MappedObject* best = nullptr;
  int best_rank = 3;
  for (const MappedObject& object : objects) {
    if (is_loader(object.path) || is_tracer(object.path)) continue;
    const int rank = object.path == program ? 0 : is_libc(object.path) ? 2 : 1;
    if (rank >= best_rank || !elf_symbol(object.open_path, "malloc").ok()) continue;
    best = &object;
    best_rank = rank;
  }
  if (best == nullptr && objects.empty()) return explain_refusal(pid, look_at_target(pid));
  if (best == nullptr) {
    return Error{Error::Kind::not_found,
                 fmt::format("process {} has no malloc that can be found: a static program without "
                             "symbols?",
                             pid)};
  }
  TargetAllocator allocator{.family = family_of(*best), .object = *best};
  for (const std::string_view name : kEntryNames) {
    const Result<ElfSymbol> symbol = elf_symbol(best->open_path, name);
    if (!symbol.ok()) continue;
    allocator.entries.push_back(symbol.value().address + best->bias);
    allocator.entry_names.emplace_back(name);
  }
  add_python_entries(program, objects, allocator);
  return allocator;
}

RemoteNames::RemoteNames(pid_t pid) : objects_(mapped_objects(pid)) {}

std::optional<uint64_t> RemoteNames::in(const MappedObject& object, std::string_view name) const {
  const Result<ElfSymbol> symbol = elf_symbol(object.open_path, name);
  if (!symbol.ok()) return std::nullopt;
  return symbol.value().address + object.bias;
}

std::optional<uint64_t> RemoteNames::find(std::string_view part, std::string_view name) const {
  for (const MappedObject& object : objects_) {
    if (object.path.find(part) == std::string::npos) continue;
    if (const auto address = in(object, name)) return address;
  }
  return std::nullopt;
}

}  // namespace plateau
