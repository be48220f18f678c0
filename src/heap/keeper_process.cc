// SPDX-License-Identifier: Apache-2.0
#include "heap/keeper_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <ctime>
#include <span>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "heap/heap_recorder.h"
#include "heap/keeper_wire.h"
#include "tracer/segment.h"

namespace plateau {
namespace {

constexpr double kShortestMs = 1;
constexpr double kBusyMs = 20;
constexpr double kWantedFill = 0.125;
constexpr double kCrowded = 0.5;
// Of a job that forks all the time a dozen children share one awakening: the spares last that long.
constexpr double kBunchMs = 1.5;
constexpr int kKeptFreeBytes = 4 << 20;

struct Arrivals {
  bool claimed = false;  // Somebody opened a segment that is held ready.
  bool left = false;     // Something lies in the directory that is to be taken up.
};

// Takes all that `watch` has to tell. What the keeper itself does there (it makes, renames and
// scans) is told too, and does not count.
Arrivals arrivals_of(int watch) {
  alignas(inotify_event) std::array<char, 4096> events{};
  Arrivals arrivals;
  while (true) {
    const ssize_t bytes = ::read(watch, events.data(), events.size());
    if (bytes <= 0) return arrivals;
    for (ssize_t at = 0; at < bytes;) {
      inotify_event event = {};
      std::memcpy(&event, events.data() + at, sizeof event);
      const std::string_view name(
          events.data() + at + sizeof event,
          event.len > 0 ? strnlen(events.data() + at + sizeof event, event.len) : 0);
      const bool opened = (event.mask & IN_OPEN) != 0;
      arrivals.claimed |= opened && name.starts_with(trace::kSpareName) && !name.ends_with(".tmp");
      arrivals.left |= (event.mask & IN_Q_OVERFLOW) != 0 ||
                       (!opened && (name.ends_with(trace::kSegmentEnding) ||
                                    name.ends_with(trace::kUntracedEnding)));
      at += static_cast<ssize_t>(sizeof event + event.len);
    }
  }
}

// Away from the job's terminal and from everything that the owner has open. Only the socket and the
// death of the owner end this process; a signal from a terminal does not.
void settle_down(const KeeperDuty& duty) {
  setpgid(0, 0);
  prctl(PR_SET_NAME, "plateau-heap");
  for (const int number : {SIGINT, SIGQUIT, SIGHUP, SIGTSTP, SIGTTOU, SIGTTIN, SIGPIPE, SIGUSR1,
                           SIGUSR2, SIGALRM, SIGCHLD}) {
    std::signal(number, SIG_IGN);
  }
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigprocmask(SIG_SETMASK, &blocked, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  const auto socket = static_cast<unsigned>(duty.socket);
  if (socket > 0) close_range(0, socket - 1, 0);
  close_range(socket + 1, ~0U, 0);
  while (open("/dev/null", O_RDWR) >= 0) {
    if (fcntl(STDERR_FILENO, F_GETFD) >= 0) break;
  }
}

Fd death_of_owner() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  return Fd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

class KeeperLoop {
 public:
  explicit KeeperLoop(const KeeperDuty& duty)
      : duty_(duty),
        recorder_(duty.directory, duty.others_join ? 0666 : 0600),
        pace_(duty.exact),
        deaths_(death_of_owner()),
        arrivals_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    if (arrivals_)
      watched_ = inotify_add_watch(arrivals_.get(), duty.directory.c_str(),
                                   IN_MOVED_TO | IN_CREATE | IN_OPEN) >= 0;
    recorder_.scan();
  }

  void run() {
    while (getppid() == duty_.owner) {
      const double fill = round();
      if (closed_) return;
      answer();
      sleep(pace_.next_ms(fill));
    }
  }

 private:
  double round();
  void receive();
  void answer();
  bool send_track(uint32_t number, int64_t pid);
  bool send_piece(KeeperPiece head, std::string_view bytes);
  void sleep(double ms);

  const KeeperDuty& duty_;
  HeapRecorder recorder_;
  KeeperPace pace_;
  Fd deaths_;
  Fd arrivals_;
  bool watched_ = false;
  bool closed_ = false;
  bool claimed_ = false;             // When it slept last.
  std::vector<KeeperRequest> rows_;  // Of this round.
  std::vector<uint32_t> asked_;      // Tracks, to be answered.
};

// What was published is fixed first, then the steps are taken in, then it is read: a step that
// began before an event was told before the event was published.
double KeeperLoop::round() {
  const HeapRecorder::Load load = recorder_.look();
  receive();
  recorder_.read();
  for (const KeeperRequest& row : rows_) recorder_.row(row.time_s, row.step);
  rows_.clear();
  return static_cast<double>(load.fullest_bytes) / static_cast<double>(trace::kLaneBytes);
}

void KeeperLoop::receive() {
  while (true) {
    KeeperRequest request;
    const ssize_t n = recv(duty_.socket, &request, sizeof request, MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) {
      closed_ = true;
      return;
    }
    if (n != static_cast<ssize_t>(sizeof request)) continue;
    switch (request.ask) {
      case KeeperAsk::step:
        recorder_.step(request.stamp, request.step);
        break;
      case KeeperAsk::row:
        rows_.push_back(request);
        break;
      case KeeperAsk::tracks:
        asked_.push_back(request.number);
        break;
    }
  }
}

// The rings are emptied between tracks: many large ones take longer to encode than a ring lasts.
void KeeperLoop::answer() {
  if (asked_.empty()) return;
  const uint32_t number = asked_.back();
  asked_.clear();
  recorder_.scan();
  recorder_.look(true);
  recorder_.read();
  const std::vector<int64_t> pids = recorder_.pids();  // The largest heaps come last.
  const size_t most = std::min(pids.size(), HeapRecorder::kMaxTracks);
  for (const int64_t pid : std::span(pids).last(most)) {
    if (!send_track(number, pid)) return;
    round();
    if (closed_) return;
  }
  KeeperPiece end;
  end.number = number;
  end.last = 1;
  send_piece(end, "");
}

bool KeeperLoop::send_track(uint32_t number, int64_t pid) {
  const std::string track = recorder_.encoded_track(pid);
  KeeperPiece head;
  head.number = number;
  head.pid = pid;
  for (size_t at = 0; at < track.size(); at += kMaxPieceBytes) {
    if (!send_piece(head, std::string_view(track).substr(at, kMaxPieceBytes))) return false;
  }
  return true;
}

bool KeeperLoop::send_piece(KeeperPiece head, std::string_view bytes) {
  head.counts = recorder_.counts();
  std::array<iovec, 2> parts = {iovec{&head, sizeof head},
                                iovec{const_cast<char*>(bytes.data()), bytes.size()}};
  msghdr message = {};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  ssize_t n = 0;
  do {
    n = sendmsg(duty_.socket, &message, MSG_NOSIGNAL);
  } while (n < 0 && errno == EINTR);
  return n >= 0;
}

void KeeperLoop::sleep(double ms) {
  std::array<pollfd, 3> polled = {pollfd{duty_.socket, POLLIN, 0}, pollfd{deaths_.get(), POLLIN, 0},
                                  pollfd{arrivals_.get(), POLLIN, 0}};
  if (claimed_) ms = std::min(ms, kBunchMs);
  const timespec limit = {static_cast<time_t>(ms / 1000),
                          static_cast<long>(std::fmod(ms, 1000) * 1e6)};
  const int ready = ppoll(polled.data(), polled.size() - (claimed_ ? 1 : 0), &limit, nullptr);
  if (ready > 0 && polled[1].revents != 0) {
    signalfd_siginfo news = {};  // Somebody's SIGTERM, or the owner's death: run() looks.
    [[maybe_unused]] const ssize_t n = ::read(deaths_.get(), &news, sizeof news);
  }
  Arrivals arrivals;
  if (claimed_ || (ready > 0 && polled[2].revents != 0)) arrivals = arrivals_of(arrivals_.get());
  claimed_ = arrivals.claimed;
  if (arrivals.left || !watched_) recorder_.scan();
  if (arrivals.left || arrivals.claimed) pace_.hurry();
}

}  // namespace

double KeeperPace::next_ms(double fill) {
  if (fill <= 0) {
    sleep_ms_ = std::min(std::max(sleep_ms_, kShortestMs) * 2, longest_ms_);
  } else {
    // Somebody may be waiting for room.
    if (fill > kCrowded) return sleep_ms_ = 0;
    const double longest = std::min(kBusyMs, longest_ms_);
    sleep_ms_ = std::clamp(std::clamp(sleep_ms_, kShortestMs, longest) * kWantedFill / fill,
                           kShortestMs, longest);
  }
  return sleep_ms_;
}

void remove_segment_directory(const std::string& directory) {
  DIR* open = opendir(directory.c_str());
  if (open == nullptr) return;
  while (const dirent* entry = readdir(open)) {
    const std::string_view name = entry->d_name;
    if (name.ends_with(".segment") || name.ends_with(".segment.tmp") ||
        name.ends_with(trace::kUntracedEnding) || name.starts_with(trace::kSpareName)) {
      unlinkat(dirfd(open), entry->d_name, 0);
    }
  }
  closedir(open);
  rmdir(directory.c_str());
  const std::string outer = directory.substr(0, directory.rfind('/'));
  if (outer.find("/plateau-heap-") != std::string::npos) rmdir(outer.c_str());
}

void keep_heaps(const KeeperDuty& duty) {
  settle_down(duty);
  // A process that comes and goes takes some pages here: given back and asked for again each time,
  // they would be most of what it costs.
  mallopt(M_TRIM_THRESHOLD, kKeptFreeBytes);
  KeeperLoop(duty).run();
  remove_segment_directory(duty.directory);
  _exit(0);
}

}  // namespace plateau
