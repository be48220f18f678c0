// SPDX-License-Identifier: Apache-2.0
#include "heap/keeper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/clock.h"
#include "base/fd.h"
#include "base/installed.h"
#include "heap/keeper_process.h"
#include "heap/keeper_wire.h"
#include "tracer/segment.h"

namespace plateau {
namespace {

constexpr int kAnswerMs = 2000;  // Between two pieces of an answer.
constexpr int kEndMs = 2000;
constexpr uint64_t kRoomBytes = uint64_t{32} * trace::kSegmentBytes;  // Some dozen processes.
constexpr double kStepGapSeconds = 0.002;  // Steps come no faster than this; the last one counts.

Error trouble(std::string message) {
  return {Error::Kind::not_found, std::move(message)};
}

Result<std::string> find_tracer(const std::string& given) {
  const std::vector<std::string> places =
      given.empty() ? places_of("libplateau_tracer.so") : std::vector<std::string>{given};
  if (std::string found = first_readable(places); !found.empty()) return found;
  return trouble(
      fmt::format("the heap tracer is not at {}; is Plateau installed in full?", places.front()));
}

uint64_t room_in(const std::string& directory) {
  struct statvfs facts = {};
  return statvfs(directory.c_str(), &facts) == 0 ? uint64_t{facts.f_bavail} * facts.f_frsize : 0;
}

// A job of root may have processes of other users. They get in by knowing the name, which is long,
// stands in nothing but the job's environment, and lies where nobody can list it.
Result<std::string> open_to_others(const std::string& outer) {
  std::array<unsigned char, 16> random{};
  if (getentropy(random.data(), random.size()) != 0) return trouble("no random numbers");
  std::string inner = outer + "/";
  for (const unsigned char byte : random) inner += fmt::format("{:02x}", byte);
  if (mkdir(inner.c_str(), 0700) != 0 || chmod(inner.c_str(), 01733) != 0 ||
      chmod(outer.c_str(), 0711) != 0) {
    return trouble(fmt::format("cannot make {}: {}", inner, std::strerror(errno)));
  }
  return inner;
}

// Memory rather than a disk where there is enough of it: containers often have 64 MB only. Where
// neither has enough, whichever has more.
Result<std::string> make_directory(const std::string& given) {
  if (!given.empty()) {
    if (mkdir(given.c_str(), 0700) == 0 || errno == EEXIST) return given;
    return trouble(fmt::format("cannot make {}: {}", given, std::strerror(errno)));
  }
  const char* temporary = std::getenv("TMPDIR");
  const std::string usual = temporary != nullptr && temporary[0] == '/' ? temporary : "/tmp";
  std::string error;
  const std::string memory = "/dev/shm";
  const bool in_memory = room_in(memory) >= std::min(kRoomBytes, room_in(usual));
  for (const std::string& base : {in_memory ? memory : usual, in_memory ? usual : memory}) {
    std::string path = base + "/plateau-heap-XXXXXX";
    if (mkdtemp(path.data()) != nullptr) {
      return geteuid() == 0 ? open_to_others(path) : Result<std::string>(path);
    }
    error = fmt::format("cannot make a directory in {}: {}", base, std::strerror(errno));
  }
  return trouble(error);
}

}  // namespace

struct Keeper::State {
  KeeperOptions options;
  std::string tracer;
  std::string directory;
  pid_t pid = -1;
  Fd process;  // pidfd: somebody else may reap the pid.
  Fd socket;
  uint32_t requests = 0;
  KeeperRequest held_step;  // Told with the next message, if the last was told just now.
  bool holds_step = false;
  double last_step_s = 0;
  HeapCounts counts;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  void tell(const KeeperRequest& request);
  void tell_held();
  [[nodiscard]] Error gone() const;
  Result<bool> receive_piece(std::string& buffer, std::vector<EncodedTrack>& tracks);
};

Keeper::State::~State() {
  socket.reset();
  if (pid > 0) {
    pollfd ended = {process.get(), POLLIN, 0};
    if (!process.open() || poll(&ended, 1, kEndMs) <= 0) {
      if (process.open()) syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
    }
    waitpid(pid, nullptr, 0);
  }
  if (!directory.empty()) remove_segment_directory(directory);
}

// Never waits: if the keeper does not take messages, this one is lost.
void Keeper::State::tell(const KeeperRequest& request) {
  send(socket.get(), &request, sizeof request, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void Keeper::State::tell_held() {
  if (holds_step) tell(held_step);
  holds_step = false;
}

Error Keeper::State::gone() const {
  return trouble("the heap recorder has ended; the job goes on, its heap is no longer recorded");
}

Result<Keeper> Keeper::start(const KeeperOptions& options) {
  auto state = make_hidden<State>();
  state->options = options;
  Result<std::string> tracer = find_tracer(options.tracer);
  if (!tracer) return tracer.error();
  state->tracer = std::move(tracer.value());
  Result<std::string> directory = make_directory(options.directory);
  if (!directory) return directory.error();
  state->directory = std::move(directory.value());
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return trouble(fmt::format("cannot make a socket: {}", std::strerror(errno)));
  }
  state->socket.reset(ends[0]);
  Fd far_end(ends[1]);
  const KeeperDuty duty{.socket = far_end.get(),
                        .owner = getpid(),
                        .directory = state->directory,
                        .exact = options.mode == HeapMode::exact,
                        .others_join = options.directory.empty() && geteuid() == 0};
  state->pid = fork();
  if (state->pid < 0) return trouble(fmt::format("cannot fork: {}", std::strerror(errno)));
  if (state->pid == 0) keep_heaps(duty);
  setpgid(state->pid, state->pid);  // Both sides do it, so that neither has to wait.
  state->process.reset(static_cast<int>(syscall(SYS_pidfd_open, state->pid, 0)));
  return Keeper(std::move(state));
}

std::vector<std::string> Keeper::environment(const std::string& ld_preload) const {
  const bool exact = state_->options.mode == HeapMode::exact;
  return {
      "LD_PRELOAD=" + state_->tracer + (ld_preload.empty() ? "" : ":" + ld_preload),
      fmt::format("PLATEAU_HEAP={}:{}:{}", state_->directory, exact ? "exact" : "sampled",
                  exact ? 0 : state_->options.interval_bytes),
  };
}

const std::string& Keeper::directory() const {
  return state_->directory;
}

pid_t Keeper::pid() const {
  return state_->pid;
}

double Keeper::cpu_s() const {
  clockid_t clock = {};
  timespec used = {};
  if (clock_getcpuclockid(state_->pid, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

const HeapCounts& Keeper::counts() const {
  return state_->counts;
}

void Keeper::step(int64_t step) {
  const KeeperRequest request{.ask = KeeperAsk::step, .stamp = trace::trace_stamp(), .step = step};
  const double now = monotonic_now_s();
  if (now - state_->last_step_s < kStepGapSeconds) {
    state_->held_step = request;
    state_->holds_step = true;
    return;
  }
  state_->last_step_s = now;
  state_->holds_step = false;
  state_->tell(request);
}

void Keeper::row(double time_s, int64_t step) {
  state_->tell_held();
  state_->tell(
      {.ask = KeeperAsk::row, .stamp = trace::trace_stamp(), .step = step, .time_s = time_s});
}

// Takes one piece of the answer in. False once the answer is complete.
Result<bool> Keeper::State::receive_piece(std::string& buffer, std::vector<EncodedTrack>& tracks) {
  pollfd ready = {socket.get(), POLLIN, 0};
  int polled = 0;
  do {
    polled = poll(&ready, 1, kAnswerMs);
  } while (polled < 0 && errno == EINTR);
  if (polled <= 0) return trouble("the heap recorder does not answer");
  const ssize_t n = recv(socket.get(), buffer.data(), buffer.size(), 0);
  if (n < 0 && errno == EINTR) return true;
  if (n < static_cast<ssize_t>(sizeof(KeeperPiece))) return gone();
  KeeperPiece piece;
  std::memcpy(&piece, buffer.data(), sizeof piece);
  if (piece.number != requests) return true;  // Of a request that was given up.
  counts = piece.counts;
  if (piece.last != 0) return false;
  const std::string_view bytes(buffer.data() + sizeof piece, static_cast<size_t>(n) - sizeof piece);
  if (tracks.empty() || tracks.back().pid != piece.pid) tracks.push_back({piece.pid, ""});
  tracks.back().bytes += bytes;
  return true;
}

Result<std::vector<Keeper::EncodedTrack>> Keeper::encoded_tracks() {
  state_->tell_held();
  const KeeperRequest request{
      .ask = KeeperAsk::tracks, .number = ++state_->requests, .stamp = trace::trace_stamp()};
  if (send(state_->socket.get(), &request, sizeof request, MSG_NOSIGNAL) < 0) {
    return state_->gone();
  }
  std::vector<EncodedTrack> tracks;
  std::string buffer(sizeof(KeeperPiece) + kMaxPieceBytes, '\0');
  while (true) {
    const Result<bool> more = state_->receive_piece(buffer, tracks);
    if (!more) return more.error();
    if (!more.value()) return tracks;
  }
}

Result<std::vector<HeapTrack>> Keeper::tracks() {
  const Result<std::vector<EncodedTrack>> encoded = encoded_tracks();
  if (!encoded) return encoded.error();
  std::vector<HeapTrack> tracks;
  for (const EncodedTrack& each : encoded.value()) {
    Result<HeapTrack> track = decode_heap_track(each.bytes);
    if (!track) return track.error();
    tracks.push_back(std::move(track.value()));
  }
  return tracks;
}

}  // namespace plateau
