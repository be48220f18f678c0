// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/picture_reference.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "base/fd.h"
#include "base/text.h"
#include "trainer/image/picture.h"

namespace plateau::train {
namespace {

// Compressed. No picture within the limit of pixels comes near.
constexpr int64_t kMaxFileBytes = int64_t{1} << 30;
// Shorter text is taken for a path: the smallest picture has more.
constexpr size_t kLeastBase64 = 64;

std::string shown(std::string_view text) {
  constexpr size_t kShown = 200;
  if (text.size() <= kShown) return std::string(text);
  return std::string(text.substr(0, kShown)) + "...";
}

Error error(const std::string& what, Error::Kind kind = Error::Kind::bad_input) {
  return Error{kind, what};
}

// "https" of "https://...", or empty.
std::string_view scheme_of(std::string_view text) {
  const size_t end = text.find("://");
  if (end == std::string_view::npos || end == 0) return {};
  const std::string_view scheme = text.substr(0, end);
  return std::ranges::all_of(scheme, is_letter) ? scheme : std::string_view();
}

// How JPEG, PNG and WebP begin.
bool is_like_base64(std::string_view text) {
  if (text.size() < kLeastBase64) return false;
  return text.starts_with("/9j/") || text.starts_with("iVBORw0KGgo") || text.starts_with("UklGR");
}

bool can_be_path(std::string_view text) {
  return !text.empty() && text.size() < PATH_MAX && text.find('\0') == std::string_view::npos;
}

Result<std::vector<std::byte>> read_file(const Fd& fd, const std::string& name) {
  struct stat status = {};
  if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return error(name + ": not a regular file");
  }
  if (status.st_size > kMaxFileBytes) return error(name + ": larger than 1 GiB");
  std::vector<std::byte> bytes(static_cast<size_t>(status.st_size));
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::read(fd.get(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return error(name + ": cannot be read: " + std::strerror(errno));
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

// Not opened, with ENOENT, if there is no such file. A pipe does not block: it is refused later.
Fd open_beside(const std::string& path, const std::filesystem::path& folder) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  Fd fd(::open((folder / path).c_str(), kFlags));
  if (!fd && (errno == ENOENT || errno == ENOTDIR)) fd = Fd(::open(path.c_str(), kFlags));
  return fd;
}

}  // namespace

Result<PictureSource> read_picture_reference(std::string_view reference, size_t number,
                                             const std::filesystem::path& folder) {
  const std::string name = "image " + std::to_string(number);
  const auto decoded = [&]() -> Result<PictureSource> {
    Result<std::vector<std::byte>> bytes = decode_base64(reference, name);
    if (!bytes) return bytes.error();
    return PictureSource{.name = name, .bytes = std::move(bytes.value())};
  };
  if (reference.starts_with("data:")) return decoded();
  if (trim(reference).empty()) return error(name + ": an empty path");
  if (const std::string_view scheme = scheme_of(reference); !scheme.empty()) {
    const bool is_file = equal_ignoring_case(scheme, "file");
    return error(name + ": " + shown(reference) + " is a URL, which is not fetched; " +
                 (is_file ? "write the path alone" : "download it and write its path"));
  }
  Fd fd;
  int cause = ENOENT;
  if (can_be_path(reference)) {
    fd = open_beside(std::string(reference), folder);
    cause = errno;
  }
  if (!fd && is_like_base64(reference)) return decoded();
  if (!fd && cause == ENOENT) {
    return error(name + ": no file " + shown(reference) +
                     " beside the dataset or in the working directory, and no base64 of a JPEG, "
                     "PNG or WebP either",
                 Error::Kind::not_found);
  }
  if (!fd) {
    return error(name + ": " + shown(reference) + ": " + std::strerror(cause),
                 Error::Kind::not_found);
  }
  Result<std::vector<std::byte>> bytes = read_file(fd, shown(reference));
  if (!bytes) return bytes.error();
  return PictureSource{.name = shown(reference), .bytes = std::move(bytes.value())};
}

}  // namespace plateau::train
