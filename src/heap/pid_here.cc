// SPDX-License-Identifier: Apache-2.0
#include "heap/pid_here.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <string>
#include <string_view>

#include "base/files.h"

namespace plateau {
namespace {

uint64_t own_namespace() {
  struct stat about = {};
  static const uint64_t inode = stat("/proc/self/ns/pid", &about) == 0 ? about.st_ino : 0;
  return inode;
}

enum class Mapped : uint8_t { no, yes, hidden };

// Whether the process has something mapped where the segment says that it is.
Mapped looks_mapped(const std::string& pid, uint64_t begin) {
  for (uint64_t lane = trace::kLaneBytes; lane >= trace::kMinLaneBytes; lane /= trace::kLaneStep) {
    const uint64_t end = begin + trace::segment_bytes(lane);
    const std::string path = fmt::format("/proc/{}/map_files/{:x}-{:x}", pid, begin, end);
    struct stat about = {};
    if (lstat(path.c_str(), &about) == 0) return Mapped::yes;
    if (errno == EACCES || errno == EPERM) return Mapped::hidden;
  }
  return Mapped::no;
}

// The id in the innermost namespace; -1 if there is no such process.
pid_t innermost_id(const std::string& pid) {
  const std::string status = text_of_file(fmt::format("/proc/{}/status", pid));
  const size_t line = status.find("\nNSpid:");
  if (line == std::string::npos) return -1;
  const std::string_view ids =
      std::string_view(status).substr(line + 1, status.find('\n', line + 1) - line - 1);
  const std::string_view last = ids.substr(ids.find_last_of(" \t") + 1);
  pid_t id = -1;
  std::from_chars(last.data(), last.data() + last.size(), id);
  return id;
}

pid_t find_by_mapping(pid_t inner, uint64_t begin) {
  DIR* proc = opendir("/proc");
  if (proc == nullptr) return -1;
  pid_t found = -1;
  while (const dirent* entry = readdir(proc)) {
    const std::string name = entry->d_name;
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (innermost_id(name) != inner || looks_mapped(name, begin) != Mapped::yes) {
      continue;
    }
    found = std::stoi(name);
    break;
  }
  closedir(proc);
  return found;
}

}  // namespace

std::optional<pid_t> pid_seen_from_here(const MappedSegment& segment) {
  const trace::SegmentHeader& header = segment.header();
  const uint64_t theirs = header.pid_namespace;
  const bool here =
      theirs != 0 ? theirs == own_namespace()
                  : looks_mapped(std::to_string(segment.pid()), header.mapped_at) != Mapped::no;
  if (here || header.mapped_at == 0) return segment.pid();
  const pid_t found = find_by_mapping(segment.pid(), header.mapped_at);
  return found > 0 ? std::optional(found) : std::nullopt;
}

}  // namespace plateau
