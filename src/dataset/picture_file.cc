// SPDX-License-Identifier: Apache-2.0
#include "dataset/picture_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/base64.h"
#include "base/fd.h"

namespace plateau {
namespace {

constexpr size_t kHeaderBytes = size_t{256} * 1024;
constexpr size_t kMostPictureBytes = 500'000'000;

PictureLook judge(std::string_view bytes, bool is_whole, const std::string& name) {
  const Result<PictureFacts> facts = picture_facts(bytes, is_whole);
  if (facts) return {.facts = facts.value()};
  return {.state = PictureLook::State::broken,
          .text = fmt::format("{}: {}", name, facts.error().message)};
}

PictureLook look_at_file(const std::string& path, bool reads_whole) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts{};
  if (!fd || fstat(fd.get(), &facts) != 0) {
    return {.state = PictureLook::State::missing,
            .text = fmt::format("{}: {}", path, std::strerror(errno))};
  }
  if (!S_ISREG(facts.st_mode))
    return {.state = PictureLook::State::broken, .text = path + ": not a file"};
  const size_t most = reads_whole ? kMostPictureBytes : kHeaderBytes;
  std::string bytes(std::min(most, static_cast<size_t>(facts.st_size)), '\0');
  size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = read(fd.get(), bytes.data() + have, bytes.size() - have);
    if (got <= 0) break;
    have += static_cast<size_t>(got);
  }
  bytes.resize(have);
  return judge(bytes, static_cast<size_t>(facts.st_size) <= most, path);
}

}  // namespace

PictureLook look_at_picture(const std::string& reference, const std::string& base,
                            bool reads_whole) {
  if (reference.starts_with("http://") || reference.starts_with("https://") ||
      reference.starts_with("s3://") || reference.starts_with("gs://")) {
    return {.state = PictureLook::State::remote};
  }
  if (reference.starts_with("data:")) {
    const Result<std::vector<std::byte>> bytes = decode_base64(reference, "a picture in the text");
    if (!bytes) return {.state = PictureLook::State::broken, .text = bytes.error().message};
    const auto* begin = reinterpret_cast<const char*>(bytes.value().data());
    return judge({begin, bytes.value().size()}, true, "a picture in the text");
  }
  if (reference.empty() || reference.find('\0') != std::string::npos) {
    return {.state = PictureLook::State::missing, .text = "a picture without a name"};
  }
  constexpr std::string_view kFile = "file://";
  const std::string path =
      reference.starts_with(kFile) ? reference.substr(kFile.size()) : reference;
  const bool is_absolute = path.starts_with('/');
  return look_at_file(
      is_absolute || base.empty() ? path : (std::filesystem::path(base) / path).string(),
      reads_whole);
}

}  // namespace plateau
