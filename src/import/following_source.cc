// SPDX-License-Identifier: Apache-2.0
#include "import/following_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/fd.h"

namespace plateau {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr size_t kKeptStart = 64u << 10;
constexpr size_t kKeptEnd = 16u << 20;
constexpr milliseconds kBetweenLooks{2000};
constexpr int kPauseMs = 250;
constexpr int kShareOfLooking = 20;

class FollowingSource : public ByteSource {
 public:
  FollowingSource(std::string path, Fd file, Following following)
      : path_(std::move(path)), file_(std::move(file)), following_(std::move(following)) {}

  Result<size_t> read(char* buffer, size_t size) override {
    while (!ended_) {
      if (!wait_for_input()) break;
      const ssize_t got = ::read(fd(), buffer, size);
      if (got < 0 && errno != EINTR && errno != EAGAIN) {
        return Error{Error::Kind::not_found,
                     fmt::format("cannot read {}: {}", path_, std::strerror(errno))};
      }
      if (got > 0) {
        left_ = false;
        keep({buffer, static_cast<size_t>(got)});
        look_if_due();
        return static_cast<size_t>(got);
      }
      if (got == 0 && !wait_at_end()) break;
    }
    ended_ = true;
    return size_t{0};
  }

 private:
  [[nodiscard]] int fd() const { return file_ ? file_.get() : STDIN_FILENO; }

  // Waits until there is something to read, looking meanwhile; false to end.
  bool wait_for_input() {
    if (file_) return true;  // A regular file never makes one wait.
    while (true) {
      pollfd input{fd(), POLLIN, 0};
      const int ready = ::poll(&input, 1, kPauseMs);
      if (ready > 0) return true;
      if (ready < 0) return false;
      look_if_due();
      if (ended_) return false;
    }
  }

  // At the end of what is there: false if that is the end.
  bool wait_at_end() {
    if (!following_.waits || !file_) return false;
    look_if_due();
    if (ended_) return false;
    if (::poll(nullptr, 0, kPauseMs) < 0) return false;
    struct stat now{};
    struct stat open{};
    if (::fstat(fd(), &open) != 0) return false;
    if (open.st_size < ::lseek(fd(), 0, SEEK_CUR)) ::lseek(fd(), 0, SEEK_SET);
    if (::stat(path_.c_str(), &now) != 0) return true;  // Between two names of a rotation.
    if (now.st_ino == open.st_ino && now.st_dev == open.st_dev) return true;
    // What was written to the old file until then, and while its writer still had it, comes first.
    if (!left_) {
      left_ = true;
      return true;
    }
    left_ = false;
    Fd next(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (next) file_ = std::move(next);
    return true;
  }

  void keep(std::string_view bytes) {
    kept_.append(bytes);
    changed_ = true;
    if (kept_.size() <= kKeptStart + 2 * kKeptEnd) return;
    const size_t cut = kept_.find('\n', kept_.size() - kKeptEnd);
    const size_t start = kept_.rfind('\n', kKeptStart);
    if (cut == std::string::npos || start == std::string::npos) return;
    kept_.erase(start + 1, cut - start);
  }

  void look_if_due() {
    const Clock::time_point now = Clock::now();
    if (!changed_ || now < next_look_ || !following_.look) return;
    changed_ = false;
    const size_t end = kept_.find_last_of("\r\n");
    if (end == std::string::npos) return;
    if (!following_.look(std::string_view(kept_).substr(0, end + 1))) ended_ = true;
    const auto took = Clock::now() - now;
    next_look_ = Clock::now() + std::max<Clock::duration>(kBetweenLooks, kShareOfLooking * took);
  }

  std::string path_;
  Fd file_;
  Following following_;
  std::string kept_;
  bool changed_ = false;
  bool ended_ = false;
  bool left_ = false;  // Another file bears the name, and nothing was read since that was seen.
  Clock::time_point next_look_ = Clock::now() + kBetweenLooks;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> open_following(const std::string& path, Following following) {
  const bool standard_input = path == "-";
  Fd file(standard_input ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file && !standard_input) {
    return Error{Error::Kind::not_found,
                 fmt::format("cannot open {}: {}", path, std::strerror(errno))};
  }
  struct stat about{};
  if (file && ::fstat(file.get(), &about) == 0 && !S_ISREG(about.st_mode)) {
    return Error{Error::Kind::not_found,
                 fmt::format("{} is no file that grows; pipe it in: … | plateau judge -", path)};
  }
  return std::unique_ptr<ByteSource>(std::make_unique<FollowingSource>(
      standard_input ? "standard input" : path, std::move(file), std::move(following)));
}

}  // namespace plateau
