// SPDX-License-Identifier: Apache-2.0
#include "cli/find_recording.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/text.h"

namespace plateau {
namespace {

constexpr const char* kProgram = "plateau";
constexpr const char* kSuffix = ".plateau";

// A process of our own that calls itself plateau: anybody's may, and name any file as its
// recording.
bool is_plateau(const std::filesystem::path& process) {
  struct stat info = {};
  if (stat(process.c_str(), &info) != 0 || info.st_uid != geteuid()) return false;
  std::ifstream file(process / "comm");
  std::string name;
  return std::getline(file, name) && name == kProgram;
}

void add_open_files(const std::filesystem::path& process, std::vector<std::string>& found) {
  std::error_code error;
  std::filesystem::directory_iterator files(process / "fd", error);
  for (; !error && files != std::filesystem::directory_iterator(); files.increment(error)) {
    std::error_code unreadable;
    const std::string path = std::filesystem::read_symlink(files->path(), unreadable).string();
    if (unreadable || !path.ends_with(kSuffix)) continue;
    if (access(path.c_str(), R_OK) != 0) continue;
    if (std::find(found.begin(), found.end(), path) == found.end()) found.push_back(path);
  }
}

}  // namespace

std::vector<std::string> open_recordings(const std::string& proc) {
  std::vector<std::string> found;
  std::error_code error;
  std::filesystem::directory_iterator processes(proc, error);
  for (; !error && processes != std::filesystem::directory_iterator(); processes.increment(error)) {
    const std::string name = processes->path().filename().string();
    if (!parse_int(name) || !is_plateau(processes->path())) continue;
    add_open_files(processes->path(), found);
  }
  return found;
}

}  // namespace plateau
