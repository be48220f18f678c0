// SPDX-License-Identifier: Apache-2.0
#include "probe/loader.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/fd.h"

namespace plateau {
namespace {

constexpr int kMostScripts = 4;  // A script may name a script; the kernel follows as many.
constexpr size_t kHeadBytes = 256;
constexpr size_t kMostSegments = 128;
constexpr size_t kLongestName = 4096;

// Where `command` is, as execvp() would find it; "" if nowhere.
std::string found_along(const std::string& command, std::string_view path) {
  if (command.find('/') != std::string::npos) return command;
  while (!path.empty()) {
    const size_t colon = path.find(':');
    const std::string_view directory = path.substr(0, colon);
    std::string place(directory.empty() ? "." : directory);
    place.append("/").append(command);
    if (access(place.c_str(), X_OK) == 0) return place;
    if (colon == std::string_view::npos) break;
    path.remove_prefix(colon + 1);
  }
  return "";
}

std::string bytes_at(const Fd& file, uint64_t at, size_t most) {
  std::string bytes(most, '\0');
  const ssize_t n = pread(file.get(), bytes.data(), most, static_cast<off_t>(at));
  bytes.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return bytes;
}

// "/bin/sh" of "#!/bin/sh -e\n"; "" if there is none.
std::string interpreter_of(std::string_view head) {
  head.remove_prefix(2);
  head = head.substr(0, head.find('\n'));
  head.remove_prefix(std::min(head.find_first_not_of(" \t"), head.size()));
  return std::string(head.substr(0, head.find_first_of(" \t\r")));
}

std::optional<std::string> loader_in(const Fd& file, const std::string& head) {
  Elf64_Ehdr elf;
  if (head.size() < sizeof elf) return std::nullopt;
  std::memcpy(&elf, head.data(), sizeof elf);
  const bool readable = std::memcmp(elf.e_ident, ELFMAG, SELFMAG) == 0 &&
                        elf.e_ident[EI_CLASS] == ELFCLASS64 &&
                        elf.e_ident[EI_DATA] == ELFDATA2LSB && elf.e_phnum <= kMostSegments &&
                        elf.e_phentsize == sizeof(Elf64_Phdr);
  if (!readable) return std::nullopt;
  const size_t size = elf.e_phnum * sizeof(Elf64_Phdr);
  const std::string table = bytes_at(file, elf.e_phoff, size);
  if (table.size() != size) return std::nullopt;
  for (size_t at = 0; at < size; at += sizeof(Elf64_Phdr)) {
    Elf64_Phdr segment;
    std::memcpy(&segment, table.data() + at, sizeof segment);
    if (segment.p_type != PT_INTERP) continue;
    const std::string name =
        bytes_at(file, segment.p_offset, std::min<size_t>(segment.p_filesz, kLongestName));
    return name.substr(0, name.find('\0'));
  }
  return "";
}

}  // namespace

std::optional<std::string> loader_of(const std::string& command, const std::string& path) {
  std::string program = found_along(command, path);
  for (int scripts = 0; scripts <= kMostScripts && !program.empty(); ++scripts) {
    // Not waited for, should it be a pipe.
    const Fd file(open(program.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file) return std::nullopt;
    const std::string head = bytes_at(file, 0, kHeadBytes);
    if (!head.starts_with("#!")) return loader_in(file, head);
    program = interpreter_of(head);
  }
  return std::nullopt;
}

std::string refuses_preload(const std::string& command, const std::string& path,
                            const std::string& glibc_loader) {
  const std::optional<std::string> loader = loader_of(command, path);
  if (!loader) return "";
  if (loader->empty()) {
    if (access(glibc_loader.c_str(), F_OK) == 0) return "";
    return fmt::format("'{}' is linked statically, and there is no {} for what it may start",
                       command, glibc_loader);
  }
  const std::string_view name = std::string_view(*loader).substr(loader->rfind('/') + 1);
  if (!name.starts_with("ld-musl")) return "";
  return fmt::format("'{}' is started by musl's loader, {}", command, *loader);
}

}  // namespace plateau
