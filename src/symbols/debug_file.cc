// SPDX-License-Identifier: Apache-2.0
#include "symbols/debug_file.h"

#include <dlfcn.h>
#include <zlib.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

namespace plateau {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;

std::string hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::optional<ElfFile> open_with_id(const std::string& path, const std::string& build_id) {
  auto file = ElfFile::open(path);
  if (!file || file.value().build_id() != build_id) return std::nullopt;
  return std::move(file.value());
}

std::optional<ElfFile> by_build_id(const DebugFileRequest& request) {
  if (request.build_id.size() < 2) return std::nullopt;
  const std::string id = hex(request.build_id);
  return open_with_id(
      request.debug_root + "/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug",
      request.build_id);
}

uint32_t check_sum(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> chunk(kChunkBytes);
  uLong sum = ::crc32(0, nullptr, 0);
  while (file.read(chunk.data(), static_cast<std::streamsize>(chunk.size())), file.gcount() > 0) {
    sum = ::crc32(sum, reinterpret_cast<const Bytef*>(chunk.data()),
                  static_cast<uInt>(file.gcount()));
  }
  return static_cast<uint32_t>(sum);
}

// Section .gnu_debuglink: a file name, its end padded to four bytes, and a check sum of that file.
std::optional<ElfFile> by_link(const DebugFileRequest& request, const ElfFile& stripped) {
  const std::string_view link = stripped.section(".gnu_debuglink");
  const size_t end = link.find('\0');
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  const size_t sum_at = (end + 1 + 3) / 4 * 4;
  if (sum_at + sizeof(uint32_t) > link.size()) return std::nullopt;
  uint32_t sum = 0;
  std::memcpy(&sum, link.data() + sum_at, sizeof sum);
  const std::string name(link.substr(0, end));
  if (name.find('/') != std::string::npos) return std::nullopt;

  std::error_code failed;
  auto real = std::filesystem::canonical(request.path, failed);
  if (failed) real = request.path;
  const std::string beside = real.parent_path().string();
  for (const std::string& folder :
       {beside, beside + "/.debug", std::string(request.debug_root).append(beside)}) {
    const std::string place = std::string(folder).append("/").append(name);
    if (place == real.string()) continue;
    auto file = ElfFile::open(place);
    if (!file) continue;
    const std::string id = file.value().build_id();
    const bool right =
        id.empty() || request.build_id.empty() ? check_sum(place) == sum : id == request.build_id;
    if (right) return std::move(file.value());
  }
  return std::nullopt;
}

void* client_library() {
  return ::dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
}

// The client library is loaded only here: most users have named no server, and few have the
// library.
std::optional<ElfFile> by_server(const DebugFileRequest& request) {
  const char* servers = std::getenv("DEBUGINFOD_URLS");  // NOLINT: no threads here.
  if (servers == nullptr || *servers == '\0' || request.build_id.empty()) return std::nullopt;
  void* library = client_library();
  if (library == nullptr) return std::nullopt;
  struct Client;
  const auto begin = reinterpret_cast<Client* (*)()>(::dlsym(library, "debuginfod_begin"));
  const auto end = reinterpret_cast<void (*)(Client*)>(::dlsym(library, "debuginfod_end"));
  const auto find = reinterpret_cast<int (*)(Client*, const unsigned char*, int, char**)>(
      ::dlsym(library, "debuginfod_find_debuginfo"));
  std::optional<ElfFile> found;
  Client* client = begin != nullptr && end != nullptr && find != nullptr ? begin() : nullptr;
  if (client != nullptr) {
    char* path = nullptr;  // In the user's cache, which the client keeps.
    const Fd fd(find(client, reinterpret_cast<const unsigned char*>(request.build_id.data()),
                     static_cast<int>(request.build_id.size()), &path));
    if (fd && path != nullptr) found = open_with_id(path, request.build_id);
    std::free(path);
    end(client);
  }
  // Not closed: the library's own libraries (curl) do not like to be unloaded.
  return found;
}

}  // namespace

bool can_ask_servers() {
  return client_library() != nullptr;
}

std::optional<ElfFile> find_debug_file(const DebugFileRequest& request, const ElfFile* stripped) {
  if (auto file = by_build_id(request)) return file;
  if (stripped != nullptr) {
    if (auto file = by_link(request, *stripped)) return file;
  }
  return request.ask_servers ? by_server(request) : std::nullopt;
}

}  // namespace plateau
