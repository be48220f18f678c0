// SPDX-License-Identifier: Apache-2.0
// --push and --textfile at work: figures of jobs go to the process that sends them
// (push/courier.h).
//
// Nothing here waits for the network or for a disk while a job is watched: letters go into a socket
// as far as it takes them. If the sending process is killed, another is started after a minute.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/helper_process.h"
#include "cli/push_options.h"
#include "push/letters.h"
#include "serve/run_facts.h"
#include "session/session.h"

namespace plateau {

class Pusher {
 public:
  using Say = std::function<void(const std::string&)>;

  // Fails if the spool cannot be made or libcurl is missing.
  static Result<Pusher> start(PushRequest request, Say say);

  // Is it time to tell figures again?
  [[nodiscard]] bool due() const;
  // Each of them as of now.
  void tell(const std::vector<RunFacts>& runs);
  // Moves what waits and says what came back; to be called often.
  void tend();
  // Nothing is told any more: waits for what is on its way, for about ten seconds at most. Once.
  void finish();

  // The labels that the user gave, and those of `more` that they do not name.
  [[nodiscard]] push::LabelList labelled(const push::LabelList& more) const;
  [[nodiscard]] pid_t pid() const { return helper_ ? helper_->pid() : -1; }

 private:
  Pusher(PushRequest request, Say say) : request_(std::move(request)), say_(std::move(say)) {}
  std::optional<Error> begin(bool wait_until_ready);

  PushRequest request_;
  Say say_;
  std::optional<HelperProcess> helper_;
  std::optional<push::LetterBox> box_;
  double next_s_ = 0;
  double next_begin_s_ = 0;
  int64_t last_ms_ = 0;
  uint64_t told_dropped_ = 0;
};

// A Pusher that is shown every tick of one session. Moves nowhere: the session points to it.
class LivePusher {
 public:
  explicit LivePusher(Pusher pusher) : pusher_(std::move(pusher)) {}
  LivePusher(const LivePusher&) = delete;
  LivePusher& operator=(const LivePusher&) = delete;

  // Makes `options` judge as it goes and show each tick here too. Requires: this outlives the
  // session.
  void follow(SessionOptions& options, const Policy& policy);
  // With the answer that the user gets, bounded in time.
  void finish(const Verdict& verdict);
  // What the run is called from now on, and where its recording is, if it has one.
  void run_is(const std::string& name, const std::string& path);
  [[nodiscard]] pid_t pid() const { return pusher_.pid(); }

 private:
  void look(Session& session);
  void tell(RunFacts facts);

  Pusher pusher_;
  std::string name_;
  std::string path_;
  push::LabelList labels_;
  pid_t excluded_ = -1;
};

// What identifies a job among others: its node, and as far as a launcher has told it, the job that
// it is part of, its rank and its attempt.
push::LabelList identity_labels(const Context& known);

// "run.plateau" of "/x/run.plateau"; without a recording a name after the command and the time.
std::string run_label(const std::string& recording, const std::vector<std::string>& command,
                      double started_unix_s);

}  // namespace plateau
