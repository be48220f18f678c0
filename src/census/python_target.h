// SPDX-License-Identifier: Apache-2.0
// For tests: a real Python running tests/census/target.py, spoken to through pipes.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/proc_fields.h"
#include "base/python_for_test.h"

namespace plateau {

struct Truth {
  uint64_t objects = 0;
  uint64_t bytes = 0;
};

class PythonTarget {
 public:
  explicit PythonTarget(const std::string& python, bool busy = false, int count = 1000)
      : PythonTarget(std::vector<std::string>{python, PLATEAU_SOURCE_DIR "/tests/census/target.py",
                                              std::to_string(count), busy ? "busy" : "idle"}) {
    started_ = said() == "ready";
  }
  // Any program; started() is not told of it.
  explicit PythonTarget(const std::vector<std::string>& command) {
    int to[2];
    int from[2];
    if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0) std::abort();
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(to[0], 0);
      ::dup2(from[1], 1);
      ::execvp(words[0], words.data());
      ::_exit(127);
    }
    ::close(to[0]);
    ::close(from[1]);
    in_ = to[1];
    out_ = ::fdopen(from[0], "r");
  }
  ~PythonTarget() {
    ::close(in_);
    ::fclose(out_);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  PythonTarget(const PythonTarget&) = delete;
  PythonTarget& operator=(const PythonTarget&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool started() const { return started_; }

  void tell(const std::string& line) {
    const std::string text = line + "\n";
    if (::write(in_, text.data(), text.size()) < 0) return;
  }
  // The next line it says; "" if it has ended.
  std::string said() {
    char* line = nullptr;
    size_t room = 0;
    const ssize_t count = ::getline(&line, &room, out_);
    std::string text(line, count > 0 ? static_cast<size_t>(count - 1) : 0);
    std::free(line);
    return text;
  }
  std::string ask(const std::string& line) {
    tell(line);
    return said();
  }
  // It lives, runs and answers.
  bool answers() { return ask("ping") == "pong"; }

  std::map<std::string, Truth> truth() {
    std::map<std::string, Truth> truth;
    tell("truth");
    for (std::string line = said(); !line.empty() && line != "end"; line = said()) {
      std::istringstream words(line);
      std::string name;
      Truth one;
      words >> name >> one.objects >> one.bytes;
      truth[name] = one;
    }
    return truth;
  }

  // 'R', 'S', 'T', ... from /proc.
  [[nodiscard]] char state() const {
    return split_stat(text_of_file("/proc/" + std::to_string(pid_) + "/stat"))
        .value_or(StatLine{})
        .state;
  }

 private:
  pid_t pid_ = -1;
  int in_ = -1;
  std::FILE* out_ = nullptr;
  bool started_ = false;
};

}  // namespace plateau
