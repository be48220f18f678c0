// SPDX-License-Identifier: Apache-2.0
#include "serve/limited_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "base/fd.h"
#include "base/own_directory.h"
#include "import/byte_source.h"

namespace plateau {
namespace {

constexpr size_t kPiece = size_t{1} << 20;
constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

// A kernel without openat2, or one that forbids it, follows no link at all.
Fd open_beneath(const std::string& path, const std::string& beneath) {
  if (beneath.empty()) return Fd(open(path.c_str(), kFlags));
  const Fd directory(open(beneath.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return Fd();
  const std::string name = last_part(path);
  open_how how = {};
  how.flags = kFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  Fd file(static_cast<int>(syscall(SYS_openat2, directory.get(), name.c_str(), &how, sizeof how)));
  if (!file && (errno == ENOSYS || errno == EPERM)) {
    file = Fd(openat(directory.get(), name.c_str(), kFlags | O_NOFOLLOW));
  }
  return file;
}

Error refused(const std::string& path, const std::string& why) {
  return {Error::Kind::bad_input, fmt::format("{}: {}", path, why)};
}

}  // namespace

Result<LimitedBytes> read_limited(const std::string& path, const std::string& beneath,
                                  const ReadLimits& limits) {
  const double until_s = monotonic_now_s() + limits.seconds;
  const Fd file = open_beneath(path, beneath);
  if (!file && (errno == EXDEV || errno == ELOOP)) {
    return refused(path, "is a link out of the directory that is served");
  }
  struct stat info = {};
  if (!file || fstat(file.get(), &info) != 0) {
    return Error{Error::Kind::not_found,
                 fmt::format("cannot open {}: {}", path, std::strerror(errno))};
  }
  if (!S_ISREG(info.st_mode)) return refused(path, "is no regular file");
  Result<std::unique_ptr<ByteSource>> source = open_file(path_of_descriptor(file.get()), {});
  if (!source) return refused(path, "cannot be read");
  const std::unique_ptr<ByteSource> plain = decompress_if_needed(std::move(source.value()));
  LimitedBytes all;
  // What is not packed needs no more; what is doubles its room as it comes.
  const auto stored = static_cast<size_t>(info.st_size);
  all.bytes.reserve(std::min(limits.plain_bytes, stored) + kPiece);
  while (true) {
    const size_t had = all.bytes.size();
    all.bytes.resize(had + kPiece);
    const Result<size_t> got = plain->read(all.bytes.data() + had, kPiece);
    all.bytes.resize(had + (got ? got.value() : 0));
    if (!got) all.damage = got.error().message;
    if (!got || got.value() == 0) return all;
    if (all.bytes.size() > limits.plain_bytes) {
      return refused(path, fmt::format("more than {} MB: too large to be served; 'plateau judge' "
                                       "reads it",
                                       limits.plain_bytes >> 20));
    }
    if (monotonic_now_s() > until_s) {
      return refused(path, fmt::format("could not be read within {:.3g} s; 'plateau judge' takes "
                                       "its time",
                                       limits.seconds));
    }
  }
}

}  // namespace plateau
