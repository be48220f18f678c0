// SPDX-License-Identifier: Apache-2.0
// Passes a job's words on to other watchers of the same job.
//
// A job started by `plateau run` knows one socket. A second watcher asks whoever holds that socket
// to send it everything that arrives there ("subscribe PATH"). Sending never blocks; a subscriber
// whose socket is gone is forgotten. What a newcomer missed, it is told at once: facts and the last
// step.
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "session/step_words.h"

namespace plateau {

class StepHub {
 public:
  static constexpr size_t kMaxSubscribers = 16;

  StepHub();

  // Takes a subscription, or passes the words on.
  void words(const StepWords& words);
  [[nodiscard]] size_t subscribers() const { return paths_.size(); }

 private:
  void subscribe(const std::string& path);
  [[nodiscard]] bool send(const std::string& path, const std::string& line) const;

  Fd socket_;
  std::vector<std::string> paths_;
  StepWords facts_;      // All that was said with `run`.
  StepWords last_step_;  // step -1 until there was one.
};

// Sends one line to the socket at `path`; true if somebody took it.
bool send_step_words(int socket, const std::string& path, const std::string& line);

}  // namespace plateau
