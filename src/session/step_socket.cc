// SPDX-License-Identifier: Apache-2.0
#include "session/step_socket.h"

#include <dirent.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>
#include <utility>

#include "base/text.h"

namespace plateau {
namespace {

constexpr int kMaxDatagrams = 512;
constexpr size_t kMaxLines = size_t{1} << 16;
constexpr size_t kMaxDatagramBytes = size_t{64} << 10;
constexpr std::string_view kPrefix = "plateau-";
constexpr const char* kSocketName = "steps";
constexpr time_t kUnboundGraceSeconds = 60;

std::string cause() {
  return std::strerror(errno);  // NOLINT(concurrency-mt-unsafe): callers are single-threaded.
}

std::optional<sockaddr_un> address_of(std::string_view path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return std::nullopt;
  path.copy(address.sun_path, path.size());
  return address;
}

// 0 if somebody listens there, else the errno of connecting.
int connect_error(std::string_view path) {
  const auto address = address_of(path);
  if (!address) return ENAMETOOLONG;
  const Fd probe(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe) return errno;
  const auto* to = reinterpret_cast<const sockaddr*>(&*address);
  return connect(probe.get(), to, sizeof(*address)) == 0 ? 0 : errno;
}

// The pid in "plateau-4242-AbCdEf", or -1.
int64_t pid_in_name(std::string_view name) {
  if (!name.starts_with(kPrefix)) return -1;
  name.remove_prefix(kPrefix.size());
  const size_t dash = name.find('-');
  if (dash == std::string_view::npos || name.size() != dash + 7) return -1;
  const auto pid = parse_int(name.substr(0, dash));
  return pid && *pid > 0 && *pid < (int64_t{1} << 31) ? *pid : -1;
}

// True if nobody is behind the socket in `directory`. A pid alone does not tell: a watcher in
// another container may share /tmp with us but not our pids. A directory without a socket may be
// one that is being made right now, so it has to be a minute old.
bool abandoned(const std::string& socket_path, const struct stat& info) {
  const int error = connect_error(socket_path);
  if (error == ENOENT) return time(nullptr) - info.st_mtime > kUnboundGraceSeconds;
  return error == ECONNREFUSED;
}

// A directory that create_under() made, with the socket in it; nothing else goes with it.
bool remove_directory(const std::string& directory) {
  const std::optional<OwnDirectory> own = OwnDirectory::open(directory);
  return own && own->remove_socket(kSocketName) && rmdir(directory.c_str()) == 0;
}

struct Sender {
  int64_t pid = -1;
  int64_t uid = -1;
};

// From the credentials. Descriptors that somebody sends along are closed.
Sender sender_of(msghdr& message) {
  Sender sender;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET) continue;
    if (part->cmsg_type == SCM_CREDENTIALS && part->cmsg_len >= CMSG_LEN(sizeof(ucred))) {
      ucred who{};
      std::memcpy(&who, CMSG_DATA(part), sizeof(who));
      if (who.pid > 0) sender.pid = who.pid;
      sender.uid = who.uid;
    }
    if (part->cmsg_type == SCM_RIGHTS) {
      const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (size_t i = 0; i < count; ++i) {
        int passed = -1;
        std::memcpy(&passed, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
        close(passed);
      }
    }
  }
  return sender;
}

}  // namespace

int sweep_step_sockets(const std::string& base) {
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir(base.c_str()), closedir);
  if (!listing) return 0;
  int removed = 0;
  while (const dirent* entry = readdir(listing.get())) {
    const int64_t pid = pid_in_name(entry->d_name);
    if (pid < 0 || kill(static_cast<pid_t>(pid), 0) == 0 || errno != ESRCH) continue;
    const std::string directory = base + "/" + entry->d_name;
    struct stat info{};
    const std::optional<OwnDirectory> own = OwnDirectory::open(directory);
    if (!own || lstat(directory.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) continue;
    if (abandoned(own->reach(kSocketName), info) && remove_directory(directory)) ++removed;
  }
  return removed;
}

Result<StepSocket> StepSocket::create() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");  // NOLINT(concurrency-mt-unsafe)
  if (runtime != nullptr && runtime[0] == '/') {
    auto made = create_under(runtime);
    if (made.ok()) return made;
  }
  return create_under("/tmp");
}

Result<StepSocket> StepSocket::create_under(const std::string& base) {
  sweep_step_sockets(base);
  std::string directory = fmt::format("{}/{}{}-XXXXXX", base, kPrefix, getpid());
  const std::string path_shape = directory + "/" + kSocketName;
  if (!address_of(path_shape)) {
    return usage_error(
        fmt::format("{}: too long for a socket's path; set XDG_RUNTIME_DIR to a shorter "
                    "directory",
                    path_shape));
  }
  if (mkdtemp(directory.data()) == nullptr) {
    return Error{Error::Kind::not_found,
                 fmt::format("{}: cannot make a directory for the step socket: {}; set "
                             "XDG_RUNTIME_DIR to one that can be written",
                             base, cause())};
  }
  StepSocket made;
  made.owner_pid_ = getpid();
  made.directory_ = directory;
  made.path_ = directory + "/" + kSocketName;
  if (std::optional<Error> failed = made.bind_to(made.path_)) return *failed;
  return made;
}

Result<StepSocket> StepSocket::listen_at(const std::string& path) {
  std::optional<OwnDirectory> own = OwnDirectory::around(path);
  if (!own) {
    return usage_error(path + ": is in no directory that is yours alone to change");
  }
  const std::string name = last_part(path);
  const int error = connect_error(own->reach(name));
  if (error == 0) return usage_error(path + ": somebody listens there already");
  // A socket without a listener was left behind by a watcher that was killed.
  if (error == ECONNREFUSED && !own->remove_socket(name)) {
    return usage_error(path + ": is no socket of yours");
  }
  StepSocket made;
  if (std::optional<Error> failed = made.bind_to(own->reach(name))) return *failed;
  made.owner_pid_ = getpid();
  made.path_ = path;
  made.own_ = std::move(own);
  return made;
}

std::optional<Error> StepSocket::bind_to(const std::string& path) {
  buffer_.resize(kMaxDatagramBytes);
  fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1;
  const auto address = address_of(path);
  // The wish for credentials comes before the name, so that no datagram arrives without them.
  if (fd_ < 0 || !address || setsockopt(fd_, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) != 0 ||
      bind(fd_, reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)) != 0) {
    return Error{Error::Kind::not_found,
                 fmt::format("{}: cannot listen for steps: {}", path, cause())};
  }
  return std::nullopt;
}

StepSocket::StepSocket(StepSocket&& other) noexcept {
  *this = std::move(other);
}

StepSocket& StepSocket::operator=(StepSocket&& other) noexcept {
  if (this == &other) return *this;
  close_and_remove();
  fd_ = std::exchange(other.fd_, -1);
  owner_pid_ = std::exchange(other.owner_pid_, -1);
  directory_ = std::exchange(other.directory_, {});
  path_ = std::exchange(other.path_, {});
  own_ = std::exchange(other.own_, std::nullopt);
  buffer_ = std::exchange(other.buffer_, {});
  malformed_ = other.malformed_;
  cut_ = other.cut_;
  return *this;
}

StepSocket::~StepSocket() {
  close_and_remove();
}

void StepSocket::close_and_remove() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
  if (owner_pid_ == getpid()) {
    if (!directory_.empty()) {
      remove_directory(directory_);
    } else if (own_) {
      (void)own_->remove_socket(last_part(path_));
    }
  }
  own_.reset();
  directory_.clear();
  path_.clear();
}

std::vector<StepWords> StepSocket::receive() {
  std::vector<StepWords> words;
  for (int i = 0; fd_ >= 0 && i < kMaxDatagrams && words.size() < kMaxLines; ++i) {
    // Room for the credentials only: descriptors do not fit, and the kernel drops them.
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control{};
    iovec where{.iov_base = buffer_.data(), .iov_len = buffer_.size()};
    msghdr message{};
    message.msg_iov = &where;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t size = recvmsg(fd_, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) break;
    const Sender sender = sender_of(message);
    std::string_view datagram(buffer_.data(), static_cast<size_t>(size));
    if ((message.msg_flags & MSG_TRUNC) != 0) {
      ++cut_;
      // The last line is not whole.
      datagram = datagram.substr(0, datagram.rfind('\n') + 1);
    }
    take_lines(datagram, sender.pid, sender.uid, words);
  }
  return words;
}

void StepSocket::take_lines(std::string_view datagram, int64_t pid, int64_t uid,
                            std::vector<StepWords>& words) {
  while (!datagram.empty()) {
    const std::string_view line = take_part(datagram, '\n');
    if (trim(line).empty()) continue;
    auto parsed = parse_step_words(line);
    if (!parsed) {
      ++malformed_;
      continue;
    }
    if (parsed->pid < 0) parsed->pid = pid;
    parsed->uid = uid;
    words.push_back(std::move(*parsed));
  }
}

}  // namespace plateau
