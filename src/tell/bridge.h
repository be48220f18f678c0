// SPDX-License-Identifier: Apache-2.0
// Curves to Weights & Biases and MLflow, through the package that the user has installed.
//
// A companion runs clients/python/plateau_bridge.py, which is part of this program, with the job's
// own interpreter, and gets one JSON object a line on a pipe. It may be slow, wait for a network or
// die: the pipe never blocks, what does not fit is dropped and counted. What it has to say (the
// package is missing, the service refuses) comes back as lines.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "tell/curves.h"

namespace plateau {

class Bridge {
 public:
  // `to`: "wandb" or "mlflow". `name` is what the run is called there.
  static Result<Bridge> start(const std::string& python, std::string_view to,
                              const std::string& name);
  Bridge(Bridge&&) = default;
  Bridge& operator=(Bridge&&) = delete;
  ~Bridge() = default;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void curves(double unix_s, int64_t step, const Curves& curves);
  // A fact of the run as a whole: its verdict, its headline.
  void summary(std::string_view key, std::string_view value);
  // What it said since the last call.
  std::vector<std::string> remarks();
  // Asks it to end and waits at most `most_s` for it; after that it goes on by itself.
  void end(double most_s);

 private:
  Bridge(pid_t pid, std::string to, Fd in, Fd out)
      : pid_(pid), to_(std::move(to)), in_(std::move(in)), out_(std::move(out)) {}
  void send(std::string_view line);
  bool listen();  // False once it has closed its side.

  pid_t pid_ = -1;
  std::string to_;
  Fd in_;
  Fd out_;
  std::string said_;
  std::string rest_;  // Of a line that the pipe took in part.
  size_t dropped_ = 0;
};

// The interpreter to use for a job's own packages: that of its command if it names one, of the
// script's first line if it is one ("torchrun"), else python3.
std::string python_of(const std::vector<std::string>& command);

// The program that the companion runs.
std::string_view bridge_source();

}  // namespace plateau
