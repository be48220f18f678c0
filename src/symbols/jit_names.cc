// SPDX-License-Identifier: Apache-2.0
#include "symbols/jit_names.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace plateau {
namespace {

constexpr uint64_t kMostBytes = uint64_t{256} << 20;
constexpr uint64_t kLargestCode = uint64_t{64} << 20;  // Of one function.
constexpr uint32_t kDumpMagic = 0x4A695444;            // "JiTD"
constexpr uint32_t kCodeLoad = 0;

// "" if it is not a regular file of ours or of root's, which runs nothing of ours for us.
std::string bytes_of(const std::string& path) {
  struct stat about = {};
  if (lstat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return "";
  if (about.st_uid != geteuid() && about.st_uid != 0 && geteuid() != 0) return "";
  if (static_cast<uint64_t>(about.st_size) > kMostBytes) return "";
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool read_hex(std::string_view& line, uint64_t& value) {
  if (line.starts_with("0x")) line.remove_prefix(2);
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value, 16);
  if (error != std::errc() || end == line.data() + line.size() || *end != ' ') return false;
  line.remove_prefix(static_cast<size_t>(end - line.data()) + 1);
  return true;
}

template <class Number>
Number take(std::string_view bytes, size_t at) {
  Number value{};
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// Where LLVM puts them: ~/.debug/jit/ANYTHING/jit-PID.dump.
std::string dump_of_llvm(const std::string& name) {
  const char* home = std::getenv("HOME");
  if (home == nullptr) return "";
  std::error_code error;
  std::filesystem::directory_iterator each(std::string(home) + "/.debug/jit", error);
  for (; !error && each != std::filesystem::directory_iterator(); each.increment(error)) {
    const std::string path = each->path().string() + "/" + name;
    if (access(path.c_str(), R_OK) == 0) return path;
  }
  return "";
}

}  // namespace

JitNames JitNames::of_process(int64_t pid, const std::string& directory) {
  JitNames names;
  if (pid <= 0) return names;
  names.add_perf_map(bytes_of(fmt::format("/tmp/perf-{}.map", pid)));
  const std::string dump = fmt::format("jit-{}.dump", pid);
  for (const std::string& path :
       {fmt::format("{}/{}", directory, dump), "/tmp/" + dump, dump_of_llvm(dump)}) {
    if (!path.empty()) names.add_dump(bytes_of(path));
  }
  return names;
}

// Code that was there before is gone where the new one lies.
void JitNames::add(uint64_t begin, uint64_t bytes, std::string_view name) {
  if (bytes == 0 || bytes > kLargestCode || begin > UINT64_MAX - bytes || name.empty()) return;
  const uint64_t end = begin + bytes;
  auto at = code_.lower_bound(begin);
  if (at != code_.begin() && std::prev(at)->second.end > begin) --at;
  while (at != code_.end() && at->first < end) at = code_.erase(at);
  code_.emplace(begin, Code{end, std::string(name)});
}

void JitNames::add_perf_map(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    uint64_t begin = 0, bytes = 0;
    if (read_hex(line, begin) && read_hex(line, bytes)) add(begin, bytes, line);
  }
}

// Header: magic, version, its own size; then records: kind, size, time. One of code has process and
// thread, two addresses, size and number of the code, its name with a zero, and the code itself.
void JitNames::add_dump(std::string_view bytes) {
  constexpr size_t kRecordHead = 16, kCodeHead = kRecordHead + 40;
  if (bytes.size() < 12 || take<uint32_t>(bytes, 0) != kDumpMagic) return;
  for (size_t at = take<uint32_t>(bytes, 8); at + kRecordHead <= bytes.size();) {
    const auto size = take<uint32_t>(bytes, at + 4);
    if (size < kRecordHead || size > bytes.size() - at) return;
    if (take<uint32_t>(bytes, at) == kCodeLoad && size > kCodeHead) {
      const std::string_view rest = bytes.substr(at + kCodeHead, size - kCodeHead);
      add(take<uint64_t>(bytes, at + kRecordHead + 16),
          take<uint64_t>(bytes, at + kRecordHead + 24), rest.substr(0, rest.find('\0')));
    }
    at += size;
  }
}

std::string_view JitNames::at(uint64_t address) const {
  auto next = code_.upper_bound(address);
  if (next == code_.begin()) return "";
  --next;
  return address < next->second.end ? std::string_view(next->second.name) : std::string_view();
}

}  // namespace plateau
