// SPDX-License-Identifier: Apache-2.0
#include "serve/shelf_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace plateau {
namespace {

constexpr const char* kSuffix = ".plateau";
constexpr int64_t kNanoseconds = 1'000'000'000;

bool newer(const ListedFile& a, const ListedFile& b) {
  return a.stamp.mtime_ns != b.stamp.mtime_ns ? a.stamp.mtime_ns > b.stamp.mtime_ns
                                              : a.path < b.path;
}

// Where a link leads is looked at again when the file is opened (limited_file.h); this only keeps
// what cannot be read off the list.
bool leads_into(const std::string& path, const std::string& directory) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  if (error) return false;
  return target.parent_path() == std::filesystem::canonical(directory, error) && !error;
}

std::vector<ListedFile> recordings_in(const std::string& directory, size_t most) {
  std::vector<ListedFile> found;
  std::error_code error;
  std::filesystem::directory_iterator files(directory, error);
  for (; !error && files != std::filesystem::directory_iterator(); files.increment(error)) {
    const std::string name = files->path().filename().string();
    if (!name.ends_with(kSuffix) || name.starts_with('.')) continue;
    struct stat status = {};
    const std::string path = files->path().string();
    // A pipe of that name would be waited for without end.
    if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    std::error_code unknown;
    if (files->is_symlink(unknown) && !leads_into(path, directory)) continue;
    found.push_back({path, name, directory, stamp_of(path)});
  }
  std::sort(found.begin(), found.end(), newer);
  if (found.size() > most) found.resize(most);
  return found;
}

}  // namespace

FileStamp stamp_of(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return {};
  return {true, status.st_ino, static_cast<uint64_t>(status.st_size),
          status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec};
}

std::vector<ListedFile> list_runs(const std::vector<std::string>& paths,
                                  const std::vector<std::string>& later, size_t most) {
  std::vector<ListedFile> found;
  for (const std::string& path : paths) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
      std::vector<ListedFile> inside = recordings_in(path, most);
      std::move(inside.begin(), inside.end(), std::back_inserter(found));
    } else {
      found.push_back({path, path, "", stamp_of(path)});
    }
  }
  for (const std::string& path : later) {
    const FileStamp stamp = stamp_of(path);
    if (stamp.exists && stamp.size > 0) found.push_back({path, path, "", stamp});
  }
  std::sort(found.begin(), found.end(), newer);
  std::vector<ListedFile> once;
  std::set<std::string> paths_seen;
  std::set<std::string> names_seen;
  for (ListedFile& file : found) {
    if (!paths_seen.insert(file.path).second) continue;
    if (!names_seen.insert(file.name).second) {
      file.name = file.path;
      names_seen.insert(file.name);
    }
    once.push_back(std::move(file));
  }
  return once;
}

std::string id_of_path(const std::string& path) {
  // FNV-1a, 64 bits: no secret, only short and free of what addresses cannot hold.
  uint64_t hash = 14695981039346656037ULL;
  for (const char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return fmt::format("{:016x}", hash);
}

}  // namespace plateau
