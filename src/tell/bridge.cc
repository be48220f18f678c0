// SPDX-License-Identifier: Apache-2.0
#include "tell/bridge.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/clock.h"
#include "base/files.h"
#include "base/json_writer.h"
#include "base/printable.h"
#include "base/text.h"

namespace plateau {
namespace {

constexpr size_t kMostSaid = 4096;
constexpr int kPollMs = 20;
constexpr int kProgramFd = 3;  // In the companion.

// Away from the terminal's signals; it ends when its input does.
[[noreturn]] void become_companion(const std::string& python, const std::string& to,
                                   const std::string& name, int in, int out, int program) {
  setpgid(0, 0);
  for (const int number : {SIGINT, SIGQUIT, SIGHUP, SIGTSTP, SIGTTOU, SIGTTIN}) {
    std::signal(number, SIG_IGN);
  }
  for (const int number : {SIGPIPE, SIGTERM, SIGCHLD, SIGUSR1, SIGUSR2}) {
    std::signal(number, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  const int devnull = open("/dev/null", O_RDWR);
  if (devnull >= 0) dup2(devnull, STDERR_FILENO);
  if (program == kProgramFd) {
    fcntl(program, F_SETFD, 0);
  } else {
    dup2(program, kProgramFd);
  }
  close_all_but(kProgramFd + 1, {});
  // The job's own wishes about steps and preloaded libraries are not the companion's.
  for (const char* variable : {"LD_PRELOAD", "PLATEAU_SOCKET"}) unsetenv(variable);
  execlp(python.c_str(), python.c_str(), "/proc/self/fd/3", to.c_str(), name.c_str(), nullptr);
  write_all(STDOUT_FILENO,
            fmt::format("cannot start {}: {}; no curves are sent\n", python, strerror(errno)));
  _exit(127);
}

bool is_python(const std::string& word) {
  return std::filesystem::path(word).filename().string().starts_with("python");
}

// Where a shell would find it; "" if nowhere.
std::string found_in_path(const std::string& word) {
  if (word.find('/') != std::string::npos) return word;
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "/usr/bin:/bin" : path;
  while (!rest.empty()) {
    const std::string candidate = fmt::format("{}/{}", take_part(rest, ':'), word);
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

}  // namespace

std::string python_of(const std::vector<std::string>& command) {
  if (command.empty()) return "python3";
  if (is_python(command.front())) return command.front();
  const std::string head = text_of_file(found_in_path(command.front()), 512);
  if (!head.starts_with("#!")) return "python3";
  std::string_view line = std::string_view(head).substr(2, head.find('\n') - 2);
  std::string interpreter(next_word(line));
  if (is_python(interpreter)) return interpreter;
  std::string second(next_word(line));  // "#!/usr/bin/env python3"
  return is_python(second) ? second : "python3";
}

Result<Bridge> Bridge::start(const std::string& python, std::string_view to,
                             const std::string& name) {
  int in[2] = {-1, -1};
  int out[2] = {-1, -1};
  const Fd program(memfd_create("plateau-bridge", MFD_CLOEXEC));
  const bool made = program && write_all(program.get(), bridge_source()) == 0 &&
                    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) == 0 &&
                    pipe2(out, O_CLOEXEC) == 0;
  Fd in_read(in[0]), in_write(in[1]), out_read(out[0]), out_write(out[1]);
  const pid_t pid = made ? fork() : -1;
  if (pid < 0) {
    return Error{Error::Kind::not_found,
                 fmt::format("cannot start the companion for {}: {}", to, strerror(errno))};
  }
  if (pid == 0) {
    lseek(program.get(), 0, SEEK_SET);
    become_companion(python, std::string(to), name, in_read.get(), out_write.get(), program.get());
  }
  fcntl(out_read.get(), F_SETFL, O_NONBLOCK);
  return Bridge(pid, std::string(to), std::move(in_write), std::move(out_read));
}

// A line that went in part must be finished before another one begins.
void Bridge::send(std::string_view line) {
  if (!in_) return;
  std::string bytes = rest_;
  if (rest_.empty()) {
    bytes = line;
  } else {
    ++dropped_;
  }
  const ssize_t n = ::send(in_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n < 0 && errno != EAGAIN && errno != EINTR) {
    in_.reset();
    return;
  }
  const size_t taken = n < 0 ? 0 : static_cast<size_t>(n);
  if (taken == 0 && rest_.empty()) {
    ++dropped_;
    return;
  }
  rest_ = bytes.substr(taken);
}

void Bridge::curves(double unix_s, int64_t step, const Curves& curves) {
  JsonWriter json;
  json.begin_object().members("time", unix_s, "step", step).key("values").begin_object();
  for (const auto& [name, value] : curves) json.key(name).value(value);
  json.end_object().end_object();
  send(json.take() + "\n");
}

void Bridge::summary(std::string_view key, std::string_view value) {
  JsonWriter json;
  json.begin_object().key("summary").begin_object().members(key, value).end_object().end_object();
  send(json.take() + "\n");
}

bool Bridge::listen() {
  std::array<char, 1024> buffer{};
  while (out_) {
    const ssize_t n = read(out_.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return true;
    if (n <= 0) {
      out_.reset();
      break;
    }
    if (said_.size() < kMostSaid) said_.append(buffer.data(), static_cast<size_t>(n));
  }
  return false;
}

std::vector<std::string> Bridge::remarks() {
  const bool open = listen();
  std::vector<std::string> lines;
  while (!said_.empty()) {
    const size_t end = said_.find('\n');
    if (end == std::string::npos && open) break;
    lines.push_back(fmt::format("{}: {}", to_, printable(said_.substr(0, end))));
    said_.erase(0, end == std::string::npos ? end : end + 1);
  }
  return lines;
}

void Bridge::end(double most_s) {
  const double until_s = monotonic_now_s() + most_s;
  while (!rest_.empty() && in_ && monotonic_now_s() < until_s) {
    send("");
    if (dropped_ > 0) --dropped_;  // Nothing of anybody's was lost by that.
    if (!rest_.empty()) poll(nullptr, 0, kPollMs);
  }
  in_.reset();
  bool at_work = listen();
  while (at_work && monotonic_now_s() < until_s) {
    poll(nullptr, 0, kPollMs);
    at_work = listen();
  }
  waitpid(pid_, nullptr, WNOHANG);
  if (at_work) said_ += "it is still at work, and is left to it: the last points may come later\n";
  if (dropped_ > 0) {
    said_ += fmt::format("{} points were dropped: it was slower than the job\n", dropped_);
  }
}

}  // namespace plateau
