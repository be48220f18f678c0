// SPDX-License-Identifier: Apache-2.0
// Passes a job's words on to other watchers of the same job.
//
// A job started by `plateau run` knows one socket. A second watcher asks whoever holds that socket
// to send it everything that arrives there ("subscribe PATH"). Sending never blocks; a subscriber
// whose socket is gone is forgotten. What a newcomer missed, it is told at once: facts and the last
// step. A subscriber's socket must belong to the user who sent the subscription: a job that runs
// with fewer rights than we do cannot have us write to other people's sockets.
#pragma once

#include <sys/types.h>

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
  [[nodiscard]] size_t subscribers() const { return subscribers_.size(); }

 private:
  struct Subscriber {
    std::string path;
    Fd pinned;
  };
  void subscribe(const StepWords& words);
  [[nodiscard]] bool send(const Subscriber& to, const std::string& line) const;

  Fd socket_;
  std::vector<Subscriber> subscribers_;
  StepWords facts_;       // All that was said with `run` by the user's code,
  StepWords auto_facts_;  // and by our module inside the job.
  bool auto_spoke_ = false;
  StepWords last_step_;  // step -1 until there was one.
};

// Sends one line to the socket at `path`, which must belong to `owner`; true if somebody took it.
bool send_step_words(int socket, const std::string& path, uid_t owner, const std::string& line);

}  // namespace plateau
