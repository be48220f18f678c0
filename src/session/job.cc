// SPDX-License-Identifier: Apache-2.0
#include "session/job.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace plateau {
namespace {

// The terminal, if we are its foreground group; else -1.
Fd foreground_terminal() {
  Fd terminal(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (terminal && tcgetpgrp(terminal.get()) == getpgrp()) return terminal;
  return Fd();
}

// tcsetpgrp() from the background sends SIGTTOU to the caller unless it is blocked.
void set_foreground(int terminal, pid_t group) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTTOU);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  tcsetpgrp(terminal, group);
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

void restore_signals() {
  // What main() ignores for its own sake is not the job's business; what our caller had ignored
  // (nohup) stays ignored.
  std::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

void connect_output(const std::vector<Channel>& channels) {
  for (const Channel& channel : channels) {
    if (channel.carries_stdout) dup2(channel.job_end.get(), STDOUT_FILENO);
    if (channel.carries_stderr) dup2(channel.job_end.get(), STDERR_FILENO);
  }
}

void enter_cgroup(const std::string& procs) {
  if (procs.empty()) return;
  const Fd file(open(procs.c_str(), O_WRONLY | O_CLOEXEC));
  if (file) [[maybe_unused]]
    const ssize_t n = write(file.get(), "0", 1);
}

// Runs in the child. Reports errno through `failure` if the command cannot be executed.
[[noreturn]] void become_job(const JobRequest& request, const std::vector<Channel>& channels,
                             int terminal, int failure) {
  setpgid(0, 0);
  if (terminal >= 0) set_foreground(terminal, getpid());
  enter_cgroup(request.cgroup_procs);
  connect_output(channels);
  restore_signals();
  // They open our server and others' databases, and are none of the job's business.
  for (const char* secret : {"PLATEAU_TOKEN", "PLATEAU_PUSH_BEARER", "PLATEAU_PUSH_BASIC"}) {
    unsetenv(secret);
  }
  for (const std::string& entry : request.environment) {
    const size_t equals = entry.find('=');
    setenv(entry.substr(0, equals).c_str(), entry.substr(equals + 1).c_str(), 1);
  }
  std::vector<char*> words;
  words.reserve(request.command.size() + 1);
  for (const std::string& word : request.command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  const int error = errno;
  [[maybe_unused]] const ssize_t n = write(failure, &error, sizeof error);
  _exit(127);
}

StartError cannot_start(const std::string& command, int error) {
  const char* hint = error == ENOENT   ? "; is it installed and on PATH?"
                     : error == EACCES ? "; is it executable?"
                                       : "";
  return {{Error::Kind::not_found,
           fmt::format("cannot start '{}': {}{}", command, std::strerror(error), hint)},
          error == ENOENT ? 127 : 126};
}

Started failed(const Error& error) {
  return {std::nullopt, {error}};
}

// 0 once the command runs, else the errno of exec.
int exec_error(int pipe_end) {
  int error = 0;
  ssize_t n = 0;
  do {
    n = read(pipe_end, &error, sizeof error);
  } while (n < 0 && errno == EINTR);
  return n == static_cast<ssize_t>(sizeof error) ? error : 0;
}

}  // namespace

Started start_job(const JobRequest& request) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  Result<std::vector<Channel>> opened = open_channels();
  if (!opened) return failed(opened.error());
  std::vector<Channel>& channels = opened.value();
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return failed({Error::Kind::not_found, fmt::format("cannot open a pipe: {}", strerror(errno))});
  }
  const Fd failure_read(ends[0]);
  Fd failure_write(ends[1]);
  const Fd terminal = foreground_terminal();

  Job job;
  job.has_terminal = terminal.open();
  job.pid = fork();
  if (job.pid < 0) {
    return failed({Error::Kind::not_found, fmt::format("cannot fork: {}", strerror(errno))});
  }
  if (job.pid == 0) become_job(request, channels, terminal.get(), failure_write.get());
  setpgid(job.pid, job.pid);  // Both sides do it, so that neither has to wait for the other.
  failure_write.reset();
  if (const int error = exec_error(failure_read.get()); error != 0) {
    waitpid(job.pid, nullptr, 0);
    if (terminal) set_foreground(terminal.get(), getpgrp());
    return {std::nullopt, cannot_start(request.command.front(), error)};
  }
  // The command's bytes wait in the channels until their relays run.
  for (Channel& channel : channels) channel.job_end.reset();
  for (Channel& channel : channels) {
    Channel spare = spare_of(channel);
    Result<Relay> relay = start_relay(channel, job.pid);
    if (!relay) {
      kill(-job.pid, SIGKILL);
      waitpid(job.pid, nullptr, 0);
      if (terminal) set_foreground(terminal.get(), getpgrp());
      return failed(relay.error());
    }
    relay.value().spare = std::move(spare);
    job.relays.push_back(std::move(relay.value()));
  }
  return {std::move(job), {}};
}

bool give_terminal(const Job& job) {
  const Fd terminal = foreground_terminal();
  if (terminal) set_foreground(terminal.get(), job.pid);
  return terminal.open();
}

void take_terminal(const Job& job) {
  const Fd terminal(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (!terminal) return;
  const pid_t holder = tcgetpgrp(terminal.get());
  const bool gone = holder > 0 && kill(-holder, 0) != 0 && errno == ESRCH;
  if (holder == job.pid || gone) set_foreground(terminal.get(), getpgrp());
}

void fill_standard_descriptors() {
  for (int fd = 0; fd <= STDERR_FILENO; ++fd) {
    // open() takes the lowest free number, which is this one.
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
      [[maybe_unused]] const int made = open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
    }
  }
}

int exit_code_of(int wait_status) {
  if (WIFSIGNALED(wait_status)) return 128 + WTERMSIG(wait_status);
  return WEXITSTATUS(wait_status);
}

}  // namespace plateau
