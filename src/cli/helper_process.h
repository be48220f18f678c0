// SPDX-License-Identifier: Apache-2.0
// A part of this program that runs as a process of its own: the server of `plateau run --serve`,
// the recorder of `plateau serve PID`.
//
// The helper is forked, says once whether it could begin, and then works until its owner ends or
// asks it to stop. Its death touches nobody: the owner never waits for it without a limit and never
// writes to it. Nothing of the owner's stays open in it but standard error and what is handed over.
// Single-threaded owners only.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace plateau {

class HelperProcess {
 public:
  // Tells the owner how it began, once: a text on success ("http://..."), or why it could not.
  using Report = std::function<void(const Result<std::string>&)>;
  // What the helper does; it must call `report`, and return when `stop_fd` becomes readable (the
  // owner asks, or is gone).
  using Work = std::function<void(int stop_fd, const Report& report)>;

  // Forks and waits until the helper has begun. `name` is its name in a process list; `kept` is a
  // descriptor that stays open in it.
  static Result<HelperProcess> start(const char* name, const Work& work, int kept = -1);

  HelperProcess(HelperProcess&& other) noexcept;
  HelperProcess& operator=(HelperProcess&&) = delete;
  ~HelperProcess();  // As stop(1).

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const std::string& said() const { return said_; }

  // Asks it to stop; it may go on for a moment.
  void ask_to_stop();
  // Asks it to stop and waits, at most `most_s`; then kills it. Does nothing the second time.
  void stop(double most_s);

 private:
  HelperProcess(pid_t pid, Fd stop, std::string said)
      : pid_(pid), stop_(std::move(stop)), said_(std::move(said)) {}

  pid_t pid_ = -1;
  Fd stop_;  // Its closing asks the helper to stop.
  std::string said_;
};

}  // namespace plateau
