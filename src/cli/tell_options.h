// SPDX-License-Identifier: Apache-2.0
// --on-leak, --on-verdict, --tensorboard, --wandb and --mlflow, for those who watch a job live.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "command/verb.h"
#include "session/session.h"
#include "tell/teller.h"

namespace plateau {

Options tell_options();
Result<TellOptions> tell_request(const Arguments& arguments);

// A Teller that is shown every tick of a session, and whose children are no part of the job. Moves
// nowhere: the session's callback points to it.
class LiveTeller {
 public:
  explicit LiveTeller(Teller teller) : teller_(std::move(teller)) {}
  LiveTeller(const LiveTeller&) = delete;
  LiveTeller& operator=(const LiveTeller&) = delete;

  // Makes `options` judge as it goes and show each tick here. Requires: this outlives the session.
  void follow(SessionOptions& options, const Policy& policy);
  void look(Session& session);
  // With the answer that the user gets; waits for what is on its way, bounded.
  void finish(const Verdict& verdict);
  [[nodiscard]] std::vector<pid_t> pids() const { return teller_.pids(); }
  void recording_is(const std::string& path) { teller_.recording_is(path); }

 private:
  Teller teller_;
  std::set<pid_t> excluded_;
  LiveMoment last_;  // Without pointers.
};

}  // namespace plateau
