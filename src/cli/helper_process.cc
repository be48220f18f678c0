// SPDX-License-Identifier: Apache-2.0
#include "cli/helper_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/clock.h"
#include "base/files.h"

namespace plateau {
namespace {

constexpr int kPollMs = 10;
// The first letter of a report.
constexpr char kBegan = '+';
constexpr char kFailed = '-';

// Away from the owner's terminal, signals and files. The owner's death closes the pipe that
// `stop_fd` is the end of, in every case: nothing else of the owner's is needed.
void settle_down(const char* name, int stop_fd, int report_fd, int kept) {
  setpgid(0, 0);
  prctl(PR_SET_NAME, name);
  for (const int number :
       {SIGINT, SIGQUIT, SIGHUP, SIGTSTP, SIGTTOU, SIGTTIN, SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM}) {
    std::signal(number, SIG_IGN);
  }
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGCHLD, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int devnull = open("/dev/null", O_RDWR);
  if (devnull >= 0) {
    dup2(devnull, STDIN_FILENO);
    dup2(devnull, STDOUT_FILENO);
  }
  close_all_but(STDERR_FILENO + 1, {stop_fd, report_fd, kept < 0 ? stop_fd : kept});
}

// Until the other side closes.
std::string read_whole(int fd) {
  std::string text;
  std::array<char, 512> buffer{};
  while (true) {
    const ssize_t n = read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return text;
    text.append(buffer.data(), static_cast<size_t>(n));
  }
}

[[noreturn]] void helper_main(const char* name, const HelperProcess::Work& work, int stop_fd,
                              Fd report_fd, int kept) {
  settle_down(name, stop_fd, report_fd.get(), kept);
  work(stop_fd, [&report_fd](const Result<std::string>& began) {
    if (!report_fd) return;
    write_all(report_fd.get(), began ? kBegan + began.value() : kFailed + began.error().message);
    report_fd.reset();
  });
  _exit(0);
}

Error cannot(const char* what) {
  return {Error::Kind::not_found, fmt::format("cannot {}: {}", what, strerror(errno))};
}

}  // namespace

Result<HelperProcess> HelperProcess::start(const char* name, const Work& work, int kept) {
  int stop[2] = {-1, -1};
  if (pipe2(stop, O_CLOEXEC) != 0) return cannot("open a pipe");
  Fd stop_read(stop[0]);
  Fd stop_write(stop[1]);
  int report[2] = {-1, -1};
  if (pipe2(report, O_CLOEXEC) != 0) return cannot("open a pipe");
  Fd report_read(report[0]);
  Fd report_write(report[1]);
  const pid_t pid = fork();
  if (pid < 0) return cannot("fork");
  if (pid == 0) helper_main(name, work, stop_read.get(), std::move(report_write), kept);
  report_write.reset();
  const std::string said = read_whole(report_read.get());
  HelperProcess helper(pid, std::move(stop_write), said.empty() ? "" : said.substr(1));
  if (said.starts_with(kBegan)) return helper;
  return usage_error(said.empty() ? fmt::format("{} ended before it began", name) : said.substr(1));
}

HelperProcess::HelperProcess(HelperProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      stop_(std::move(other.stop_)),
      said_(std::move(other.said_)) {}

HelperProcess::~HelperProcess() {
  stop(1);
}

void HelperProcess::ask_to_stop() {
  stop_.reset();
}

void HelperProcess::stop(double most_s) {
  ask_to_stop();
  if (pid_ < 0) return;
  const double until_s = monotonic_now_s() + most_s;
  while (true) {
    // Whoever waited for all children has taken it already; its number may be another's by now.
    const pid_t ended = waitpid(pid_, nullptr, WNOHANG);
    if (ended == pid_ || (ended < 0 && errno != EINTR)) break;
    if (monotonic_now_s() >= until_s) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
      break;
    }
    poll(nullptr, 0, kPollMs);
  }
  pid_ = -1;
}

}  // namespace plateau
