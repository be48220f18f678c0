// SPDX-License-Identifier: Apache-2.0
#include "prove/server_trial.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/clock.h"
#include "base/files.h"
#include "base/proc_fields.h"
#include "base/text.h"
#include "base/units.h"
#include "session/job.h"
#include "session/leftovers.h"

namespace plateau {
namespace {

constexpr int64_t kWarmup = 10;
constexpr int64_t kMostBlocks = 10;
constexpr size_t kFewestBlocks = 4;
constexpr double kEndGraceSeconds = 3;
constexpr int kRetryMs = 100;

// `pid` and all it has started.
std::vector<pid_t> tree_of(pid_t pid) {
  std::vector<pid_t> tree = {pid};
  for (size_t i = 0; i < tree.size(); ++i) {
    const std::string tasks = fmt::format("/proc/{}/task", tree[i]);
    for (const pid_t task : pids_in(tasks)) {
      const std::string bytes = text_of_file(fmt::format("{}/{}/children", tasks, task));
      std::string_view rest = bytes;
      while (const std::optional<uint64_t> child = take_number(rest)) {
        tree.push_back(static_cast<pid_t>(*child));
      }
    }
  }
  return tree;
}

double owned_mb(pid_t pid) {
  uint64_t kb = 0;
  for (const pid_t member : tree_of(pid)) {
    const std::string status = text_of_file(fmt::format("/proc/{}/status", member));
    for (const char* key : {"RssAnon", "RssShmem", "VmSwap"}) kb += number_field(status, key);
  }
  return static_cast<double>(kb) * 1024 / kBytesPerMb;
}

bool has_ended(pid_t pid) {
  siginfo_t end = {};
  waitid(P_PID, static_cast<id_t>(pid), &end, WEXITED | WNOHANG | WNOWAIT);
  return end.si_pid == pid;
}

pid_t start_request(const std::string& command) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  setpgid(0, 0);
  const int nowhere = open("/dev/null", O_RDWR);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, fd);
  std::signal(SIGPIPE, SIG_DFL);
  execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
  _exit(127);
}

// Whether the request ended with exit code 0 in time.
bool request(const std::string& command, double timeout_s) {
  const pid_t pid = start_request(command);
  if (pid < 0) return false;
  const double deadline_s = monotonic_now_s() + timeout_s;
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (monotonic_now_s() > deadline_s) {
      kill(-pid, SIGKILL);
      waitpid(pid, &status, 0);
      return false;
    }
    poll(nullptr, 0, 1);
  }
  return exit_code_of(status) == 0;
}

// The server while it runs; ends it, and what it has started, when it goes.
class Server {
 public:
  explicit Server(Job job) : job_(std::move(job)) {}
  ~Server() {
    std::vector<pid_t> relays;
    relays.reserve(job_.relays.size());
    for (const Relay& relay : job_.relays) relays.push_back(relay.pid);
    kill(-job_.pid, SIGTERM);
    const double deadline_s = monotonic_now_s() + kEndGraceSeconds;
    while (!has_ended(job_.pid) && monotonic_now_s() < deadline_s) poll(nullptr, 0, 10);
    if (!has_ended(job_.pid)) kill(-job_.pid, SIGKILL);
    waitpid(job_.pid, nullptr, 0);
    end_leftovers(job_.pid, relays, kEndGraceSeconds);
    take_terminal(job_);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] pid_t pid() const { return job_.pid; }
  [[nodiscard]] bool ended() const { return has_ended(job_.pid); }

 private:
  Job job_;
};

Error cannot(std::string message) {
  return {Error::Kind::bad_input, std::move(message)};
}

std::optional<Error> wait_for_answer(const Server& server, const ServerTrialOptions& options) {
  const std::string command = request_command(options.same, 0);
  const double deadline_s = monotonic_now_s() + options.start_timeout_s;
  while (!request(command, options.request_timeout_s)) {
    if (server.ended()) return cannot("the server ended before it answered a request");
    if (monotonic_now_s() > deadline_s) {
      return cannot(fmt::format("'{}' never succeeded; does it work by itself?", command));
    }
    poll(nullptr, 0, kRetryMs);
  }
  return std::nullopt;
}

}  // namespace

std::string request_command(const std::string& command, int64_t i) {
  constexpr std::string_view kPlace = "{i}";
  std::string made = command;
  const std::string number = fmt::format("{}", i);
  for (size_t at = made.find(kPlace); at != std::string::npos;
       at = made.find(kPlace, at + number.size())) {
    made.replace(at, kPlace.size(), number);
  }
  return made;
}

Result<ProveResult> run_server_trial(const ServerTrialOptions& options) {
  Started started = start_job({.command = options.command, .environment = {}, .cgroup_procs = ""});
  if (!started.job) return started.failure.error;
  const Server server(std::move(*started.job));
  if (const std::optional<Error> error = wait_for_answer(server, options)) return *error;
  const std::string& other = options.other;
  std::vector<ProveState> states;
  ProveResult result;
  result.design = ProveDesign{.size = options.requests};
  result.pid = server.pid();
  result.speakers = 1;
  int64_t new_ones = 0;
  const auto ask = [&](char kind, int64_t block, int64_t place, int64_t size) {
    const bool is_new = kind == 'N';
    request(request_command(is_new ? other : options.same, is_new ? ++new_ones : 0),
            options.request_timeout_s);
    states.push_back({++result.steps, kind, block, place, size, owned_mb(server.pid())});
  };
  for (int64_t i = 1; i <= kWarmup; ++i) ask('W', 0, i, 0);
  for (int64_t block = 1; block <= kMostBlocks && !server.ended(); ++block) {
    const char kind = block % 2 == 0 && !other.empty() ? 'N' : 'R';
    options.progress(fmt::format("block {} of at most {} ({})", block, kMostBlocks,
                                 kind == 'N' ? "new requests" : "the same request"));
    for (int64_t i = 1; i <= options.requests && !server.ended(); ++i) {
      ask(kind, block, i, options.requests);
    }
    if (server.ended()) break;
    result.blocks = blocks_of(states, *result.design);
    result.odds = growth_odds(result.blocks);
    if (result.blocks.size() >= kFewestBlocks &&
        proved_by(result.odds, kEarlyShare) != Proved::undecided) {
      break;
    }
  }
  if (result.blocks.size() < kFewestBlocks) {
    return cannot("the server ended before it had answered two blocks of each kind");
  }
  result.proved = proved_by(result.odds, kFinalShare);
  result.heard = true;
  return result;
}

}  // namespace plateau
