// SPDX-License-Identifier: Apache-2.0
// A program that tests stop and call into: started, waited for until it says "ready", ended.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace plateau {

class RunningTarget {
 public:
  explicit RunningTarget(const std::vector<std::string>& command, const std::string& preload = "") {
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ends[1], 1);
      ::close(ends[0]);
      ::close(ends[1]);
      if (!preload.empty()) ::setenv("LD_PRELOAD", preload.c_str(), 1);
      ::setenv("PYTHONUNBUFFERED", "1", 1);
      std::vector<char*> words;
      for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
      words.push_back(nullptr);
      ::execv(words[0], words.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    output_ = ::fdopen(ends[0], "r");
    ready_ = line() == "ready";
  }
  ~RunningTarget() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    std::fclose(output_);
  }
  RunningTarget(const RunningTarget&) = delete;
  RunningTarget& operator=(const RunningTarget&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool ready() const { return ready_; }
  // The next line it prints, without its end; "" when there is none.
  std::string line() {
    char text[512];
    if (std::fgets(text, sizeof text, output_) == nullptr) return "";
    std::string got = text;
    if (!got.empty() && got.back() == '\n') got.pop_back();
    return got;
  }
  // Ends it by `signal`; its exit code, or minus the signal it died of.
  int end(int signal = SIGTERM) {
    ::kill(pid_, signal);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  [[nodiscard]] bool alive() const {
    int status = 0;
    return ::waitpid(pid_, &status, WNOHANG) == 0;
  }

 private:
  pid_t pid_ = -1;
  std::FILE* output_ = nullptr;
  bool ready_ = false;
};

}  // namespace plateau
