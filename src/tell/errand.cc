// SPDX-License-Identifier: Apache-2.0
#include "tell/errand.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/clock.h"
#include "base/files.h"

namespace plateau {
namespace {

constexpr int kPollMs = 20;
constexpr size_t kMostSaid = 1024;

// Away from the owner's terminal, signals and files. What it started and does not end in time goes
// with it: they are one group.
void settle_down(const char* name, int said, double most_s) {
  setpgid(0, 0);
  prctl(PR_SET_NAME, name);
  for (const int number : {SIGINT, SIGQUIT, SIGHUP, SIGTSTP, SIGTTOU, SIGTTIN, SIGPIPE, SIGUSR1,
                           SIGUSR2, SIGTERM, SIGCHLD}) {
    std::signal(number, SIG_DFL);
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGALRM, [](int) { kill(0, SIGKILL); });
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  alarm(static_cast<unsigned>(most_s) + 2);
  const int devnull = open("/dev/null", O_RDWR);
  if (devnull >= 0) {
    dup2(devnull, STDIN_FILENO);
    dup2(devnull, STDOUT_FILENO);
  }
  close_all_but(STDERR_FILENO + 1, {said});
}

Fd with_content(const std::string& text) {
  Fd file(memfd_create("plateau-answer", MFD_CLOEXEC));
  if (file && write_all(file.get(), text) == 0) lseek(file.get(), 0, SEEK_SET);
  return file;
}

[[noreturn]] void become_shell(const ShellCommand& shell) {
  const Fd input = with_content(shell.input);
  if (input) dup2(input.get(), STDIN_FILENO);
  if (shell.show_output) dup2(STDERR_FILENO, STDOUT_FILENO);
  if (!shell.show_output) dup2(STDOUT_FILENO, STDERR_FILENO);
  std::signal(SIGPIPE, SIG_DFL);
  for (const auto& [name, value] : shell.variables) setenv(name.c_str(), value.c_str(), 1);
  execl("/bin/sh", "sh", "-c", shell.command.c_str(), nullptr);
  _exit(127);
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return fmt::format("was ended by signal {}", WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) return fmt::format("ended with exit code {}", WEXITSTATUS(status));
  return "";
}

}  // namespace

std::optional<Errand> Errand::start(const char* name, double most_s, const Work& work) {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return std::nullopt;
  Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  const pid_t pid = fork();
  if (pid < 0) return std::nullopt;
  if (pid == 0) {
    settle_down(name, write_end.get(), most_s);
    const std::string wrong = work();
    write_all(write_end.get(), wrong.empty() ? "+" : "-" + wrong.substr(0, kMostSaid));
    _exit(0);
  }
  setpgid(pid, pid);  // Whoever comes first.
  return Errand(pid, std::move(read_end));
}

std::optional<std::string> Errand::account() {
  std::array<char, 512> buffer{};
  while (true) {
    const ssize_t n = read(said_.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return std::nullopt;
    if (n <= 0) break;
    text_.append(buffer.data(), static_cast<size_t>(n));
  }
  waitpid(pid_, nullptr, WNOHANG);
  if (text_.empty()) return "took too long, or was killed";
  return text_.substr(1);
}

std::string run_shell(const ShellCommand& shell) {
  const pid_t pid = fork();
  if (pid < 0) return fmt::format("cannot fork: {}", strerror(errno));
  if (pid == 0) become_shell(shell);
  const double until_s = monotonic_now_s() + shell.most_s;
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (monotonic_now_s() < until_s) {
      poll(nullptr, 0, kPollMs);
      continue;
    }
    // The group is ours and what the command started; we are needed to say so.
    std::signal(SIGTERM, SIG_IGN);
    kill(0, SIGTERM);
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return fmt::format("took longer than {:.0f} s and was ended", shell.most_s);
  }
  return how_it_ended(status);
}

}  // namespace plateau
