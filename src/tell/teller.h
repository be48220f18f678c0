// SPDX-License-Identifier: Apache-2.0
// Tells others about a watched job while it runs: a command when it leaks, a webhook when the word
// changes, curves for TensorBoard, Weights & Biases and MLflow.
//
// The owner shows it each moment (look()) and the last answer (finish()). Nothing here can hold the
// owner up: commands and posts are errands (errand.h), curves go into a file or a pipe that never
// blocks. What failed is said once, by the function that was given.
//
// Posts. One is on its way at a time, at least kPostPause apart, so they arrive in order; a word
// that changes meanwhile replaces the one that waits. A post is tried three times. The last answer
// is always sent, and finish() waits for it, bounded.
//
// Text of the job in messages is hostile: it travels in variables and in JSON, never in a command.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tell/curves.h"

namespace plateau {

struct TellOptions {
  std::string on_leak;               // For a shell; empty: none.
  std::string webhook;               // An address; empty: none.
  std::vector<std::string> headers;  // Of a post.
  std::string tensorboard;           // A directory; empty: none.
  bool wandb = false;
  bool mlflow = false;
  std::string python = "python3";  // For the two above.
  std::string name;                // Of the job.
  std::string recording;           // Its path; may be empty.
  bool show_output = true;         // Of the command: there is no screen that it would spoil.
  // One sentence for the user.
  std::function<void(const std::string&)> say = [](const std::string&) {};

  [[nodiscard]] bool any() const {
    return !on_leak.empty() || !webhook.empty() || !tensorboard.empty() || wandb || mlflow;
  }
};

class Teller {
 public:
  // Fails if the directory for TensorBoard cannot be written.
  static Result<Teller> start(TellOptions options);
  Teller(Teller&&) noexcept;
  Teller& operator=(Teller&&) noexcept;
  ~Teller();

  void look(const LiveMoment& moment);
  // The job is over, or nobody looks any more. Waits at most about 35 s for what is on its way, and
  // less if nothing is. Once.
  void finish(const LiveMoment& moment);

  // Children of this process that are no part of the job, as they are now.
  [[nodiscard]] std::vector<pid_t> pids() const;
  // The recording that messages name from now on.
  void recording_is(const std::string& path);

 private:
  struct Inside;
  explicit Teller(std::unique_ptr<Inside> inside);
  std::unique_ptr<Inside> inside_;
};

// What a webhook is sent: the answer, and before it `text`, which chats show, and `event`, "change"
// or "end".
std::string webhook_body(const Verdict& verdict, bool end, const std::string& name);

}  // namespace plateau
