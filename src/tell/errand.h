// SPDX-License-Identifier: Apache-2.0
// One thing that is done for us by a child process, bounded in time, that nobody waits for.
//
// The watcher forks and goes on. The child works, says how it went in one line, and ends; if it
// takes too long it ends itself and all it started. The watcher's death does not stop it: a message
// on its way arrives. Its own death touches nobody.
//
// For single-threaded owners. Whoever reaps all children may reap it: its account comes by a pipe.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"

namespace plateau {

class Errand {
 public:
  // What the child does; its result is what went wrong, "" if all is well.
  using Work = std::function<std::string()>;

  // `name` is the child's name in a process list. Nothing if no process could be made.
  static std::optional<Errand> start(const char* name, double most_s, const Work& work);

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Nothing while it works; then what went wrong, "" if nothing did. To be asked until it answers.
  std::optional<std::string> account();

 private:
  Errand(pid_t pid, Fd said) : pid_(pid), said_(std::move(said)) {}

  pid_t pid_ = -1;
  Fd said_;
  std::string text_;
};

// What a shell makes of `command`, as the work of an errand: with these variables added to its
// environment and `input` on its standard input. Its output goes to our standard error, or nowhere.
struct ShellCommand {
  std::string command;
  std::vector<std::pair<std::string, std::string>> variables;
  std::string input;
  bool show_output = true;
  double most_s = 60;
};
std::string run_shell(const ShellCommand& shell);

}  // namespace plateau
