// SPDX-License-Identifier: Apache-2.0
// Which files a process has mapped, and how far each is from where it was linked.
//
// /proc/PID/maps gives rows of pages with offsets into files; program headers say which address in
// the file stands at which offset. Each row allows as many biases as it has loadable segments that
// cover its offset; rows of one file that agree on a bias are one loaded object. So a file that is
// loaded twice (dlmopen) gives two objects, and a file whose segments were moved around (patchelf)
// still gives one.
//
// Worked case: a row 7f10a0028000 at offset 0x28000, and a segment with p_offset 0x28000 and
// p_vaddr 0x29000: the bias is 0x7f10a0028000 - 0x29000 = 0x7f109ffff000.
//
// Blind spot: an object whose file is deleted, which is not the main program, seen by a user who
// may not follow /proc/PID/map_files. It is left out.
#include "symbols/elf_symbols.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include "base/files.h"
#include "symbols/elf_file.h"
#include "symbols/maps_rows.h"

namespace plateau {
namespace {

// Loaders map whole pages; the smallest page of the machine is enough to round by.
uint64_t page_bytes() {
  return static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}
uint64_t page_down(uint64_t value) {
  return value & ~(page_bytes() - 1);
}

bool same_inode(const std::string& path, uint64_t inode) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_ino == inode;
}

bool readable(const std::string& path) {
  return ::access(path.c_str(), R_OK) == 0;
}

// How we can open the file of `row`; "" if we cannot.
std::string open_path_of(pid_t pid, const MapsRow& row) {
  const std::string proc = "/proc/" + std::to_string(pid);
  std::string in_its_root = proc + "/root" + row.path;
  // An inode number that differs can mean a replaced file, or a file system that shows other
  // numbers in maps than in stat (overlayfs of older kernels): then the exact ways come first.
  if (!row.deleted && same_inode(in_its_root, row.inode)) return in_its_root;
  char range[64];
  std::snprintf(range, sizeof range, "/map_files/%llx-%llx",
                static_cast<unsigned long long>(row.begin),
                static_cast<unsigned long long>(row.end));
  if (readable(proc + range)) return proc + range;
  const std::string name = row.path + (row.deleted ? " (deleted)" : "");
  if (link_target(proc + "/exe") == name && readable(proc + "/exe")) return proc + "/exe";
  if (!row.deleted && readable(in_its_root)) return in_its_root;
  if (!row.deleted && same_inode(row.path, row.inode)) return row.path;
  return {};
}

// Every bias at which `row` could be a piece of a file with these segments.
std::vector<uint64_t> biases(const MapsRow& row, const std::vector<ElfSegment>& segments) {
  std::vector<ElfSegment> covering;
  for (const ElfSegment& segment : segments) {
    const uint64_t first = page_down(segment.offset);
    if (segment.file_bytes == 0 || row.offset < first) continue;
    if (row.offset - first >= segment.offset - first + segment.file_bytes) continue;
    covering.push_back(segment);
  }
  std::ranges::sort(covering, {}, &ElfSegment::address);
  std::vector<uint64_t> found;
  for (const ElfSegment& segment : covering) {
    const uint64_t in_file = segment.address - (segment.offset - page_down(segment.offset)) +
                             (row.offset - page_down(segment.offset));
    found.push_back(row.begin - in_file);
  }
  return found;
}

using FileKey = std::pair<std::string, uint64_t>;  // Device and inode.

struct OpenObject {
  MappedObject object;
  FileKey key;
  bool executable = false;
};

struct MappedFile {
  std::string open_path;
  std::vector<ElfSegment> segments;
};

// "f" of "f@@V" and of "f@V".
std::string_view without_version(std::string_view name) {
  return name.substr(0, std::min(name.find('@'), name.size()));
}

// How good a symbol of the right name is; 0: not usable as an address.
int worth(const ElfSymbolEntry& entry) {
  if (entry.type == STT_TLS || entry.type == STT_SECTION || entry.type == STT_FILE) return 0;
  const bool old_version =
      entry.hidden_version || (entry.name.find('@') != std::string_view::npos &&
                               entry.name.find("@@") == std::string_view::npos);
  if (old_version) return 2;
  return entry.bind == STB_LOCAL ? 1 : 3;
}

std::optional<ElfSymbol> best_symbol(const ElfFile& file, uint32_t table, std::string_view name) {
  int best = 0;
  ElfSymbol symbol;
  file.each_symbol(table, [&](const ElfSymbolEntry& entry) {
    if (!entry.name.starts_with(name) || without_version(entry.name) != name) return true;
    const int value = worth(entry);
    if (value > best) {
      best = value;
      symbol = {.address = entry.address, .bytes = entry.bytes};
    }
    return best < 3;
  });
  return best > 0 ? std::optional(symbol) : std::nullopt;
}

}  // namespace

Result<ElfSymbol> elf_symbol(const std::string& path, std::string_view name) {
  auto file = ElfFile::open(path);
  if (!file) return file.error();
  for (const uint32_t table : {uint32_t{SHT_SYMTAB}, uint32_t{SHT_DYNSYM}}) {
    if (const auto symbol = best_symbol(file.value(), table, name)) return *symbol;
  }
  return Error{.kind = Error::Kind::not_found,
               .message = path + ": has no symbol " + std::string(name)};
}

std::vector<MappedObject> mapped_objects(pid_t pid) {
  const std::vector<MapsRow> rows =
      parse_maps_rows(text_of_file("/proc/" + std::to_string(pid) + "/maps"));
  // Only files that are mapped as code are opened: a data set may be mapped too.
  std::set<FileKey> code;
  for (const MapsRow& row : rows) {
    if (row.executable) code.insert({row.device, row.inode});
  }
  std::map<FileKey, MappedFile> files;
  std::vector<OpenObject> objects;
  for (const MapsRow& row : rows) {
    const FileKey key{row.device, row.inode};
    if (!code.contains(key)) continue;
    auto [found, fresh] = files.try_emplace(key);
    MappedFile& mapped = found->second;
    if (fresh) {
      mapped.open_path = open_path_of(pid, row);
      auto file = ElfFile::open(mapped.open_path);
      if (file) mapped.segments = file.value().segments();
    }
    const std::vector<uint64_t> candidates = biases(row, mapped.segments);
    if (candidates.empty()) continue;
    auto same = std::ranges::find_if(objects, [&](const OpenObject& known) {
      return known.key == key &&
             std::ranges::find(candidates, known.object.bias) != candidates.end();
    });
    if (same == objects.end()) {
      objects.push_back({.object = {.path = row.path,
                                    .open_path = mapped.open_path,
                                    .begin = row.begin,
                                    .end = row.end,
                                    .bias = candidates.front()},
                         .key = key});
      same = std::prev(objects.end());
    }
    same->object.end = std::max(same->object.end, row.end);
    same->executable = same->executable || row.executable;
  }
  std::vector<MappedObject> loaded;
  for (OpenObject& known : objects) {
    if (known.executable) loaded.push_back(std::move(known.object));
  }
  return loaded;
}

std::optional<uint64_t> remote_symbol(pid_t pid, std::string_view object_contains,
                                      std::string_view name) {
  for (const MappedObject& object : mapped_objects(pid)) {
    if (object.path.find(object_contains) == std::string::npos) continue;
    const auto symbol = elf_symbol(object.open_path, name);
    if (symbol.ok()) return symbol.value().address + object.bias;
  }
  return std::nullopt;
}

}  // namespace plateau
