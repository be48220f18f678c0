// SPDX-License-Identifier: Apache-2.0
#include "cli/tell_options.h"

#include <fcntl.h>
#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "http/client.h"

namespace plateau {
namespace {

constexpr size_t kMostSecret = 65536;

// The address as given, or the first line of the file that "@FILE" names: an address may be a
// secret, and command lines are seen by all.
Result<std::string> address_of(const std::string& given) {
  std::string url = given;
  if (given.starts_with('@')) {
    int error = 0;
    const std::string text = read_file_at(AT_FDCWD, given.substr(1), error, kMostSecret);
    if (error != 0) {
      return usage_error(fmt::format("--on-verdict: cannot read {}", given.substr(1)));
    }
    url = trim(std::string_view(text).substr(0, text.find('\n')));
  }
  if (const Result<void> fine = check_url(url); !fine) {
    return usage_error("--on-verdict: " + fine.error().message);
  }
  return url;
}

Result<std::vector<std::string>> headers_in(const std::string& path) {
  int error = 0;
  const std::string text = read_file_at(AT_FDCWD, path, error, kMostSecret);
  if (error != 0) return usage_error(fmt::format("--on-verdict-headers: cannot read {}", path));
  std::vector<std::string> headers;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = trim(take_part(rest, '\n'));
    if (line.empty()) continue;
    if (const Result<void> fine = check_header(line); !fine) {
      return usage_error(fmt::format("--on-verdict-headers: {}: {}", path, fine.error().message));
    }
    headers.emplace_back(line);
  }
  return headers;
}

}  // namespace

Options tell_options() {
  return grouped(
      "Notifications and curves",
      {option("on-leak", Takes::text, "CMD",
              "Run CMD in a shell, once, when the verdict first becomes leak. It gets "
              "PLATEAU_VERDICT, PLATEAU_CONFIDENCE, PLATEAU_HEADLINE, PLATEAU_RECORDING, "
              "PLATEAU_PID, PLATEAU_STEP and others in its environment, the JSON answer on its "
              "standard input, and one minute of time."),
       option("on-verdict", Takes::text, "URL",
              "POST the JSON answer to URL whenever the verdict changes, and at the end, with a "
              "field 'text' that chats show; @FILE reads the URL from FILE."),
       option("on-verdict-headers", Takes::file, "FILE",
              "Send the lines of FILE as headers with it: 'Authorization: Bearer ...'."),
       option("tensorboard", Takes::text, "DIR",
              "While the job runs, write memory by role, floor, verdict and forecast to DIR as "
              "curves for TensorBoard."),
       flag("wandb",
            "Send the same curves to Weights & Biases, through the package in the job's Python, "
            "as a separate run in WANDB_PROJECT."),
       flag("mlflow", "Send them to MLflow, to the run MLFLOW_RUN_ID or to a new one.")});
}

Result<TellOptions> tell_request(const Arguments& arguments) {
  TellOptions options;
  options.on_leak = arguments.text("on-leak").value_or("");
  if (arguments.has("on-leak") && trim(options.on_leak).empty()) {
    return usage_error("--on-leak takes a command");
  }
  if (const std::optional<std::string> given = arguments.text("on-verdict")) {
    const Result<std::string> url = address_of(*given);
    if (!url) return url.error();
    options.webhook = url.value();
  }
  if (const std::optional<std::string> file = arguments.text("on-verdict-headers")) {
    if (options.webhook.empty()) return usage_error("--on-verdict-headers needs --on-verdict");
    const Result<std::vector<std::string>> headers = headers_in(*file);
    if (!headers) return headers.error();
    options.headers = headers.value();
  }
  options.tensorboard = arguments.text("tensorboard").value_or("");
  if (arguments.has("tensorboard") && options.tensorboard.empty()) {
    return usage_error("--tensorboard takes a directory");
  }
  options.wandb = arguments.has("wandb");
  options.mlflow = arguments.has("mlflow");
  return options;
}

void LiveTeller::follow(SessionOptions& options, const Policy& policy) {
  if (!options.judged_by) options.judged_by = policy;
  options.looked = [this](Session& session) { look(session); };
}

void LiveTeller::look(Session& session) {
  const Snapshot& snapshot = session.snapshot();
  last_.elapsed_s = session.now();
  last_.step = session.journal().step();
  if (!snapshot.processes.empty()) last_.pid = snapshot.processes.front().key.pid;
  for (const ProcessSample& process : snapshot.processes) {
    if (process.role == Role::main) last_.pid = process.key.pid;
  }
  LiveMoment now = last_;
  now.snapshot = &snapshot;
  now.verdict = session.verdict();
  teller_.look(now);
  for (const pid_t pid : teller_.pids()) {
    if (excluded_.insert(pid).second) session.exclude(pid);
  }
}

void LiveTeller::finish(const Verdict& verdict) {
  last_.verdict = &verdict;
  teller_.finish(last_);
  last_.verdict = nullptr;
}

}  // namespace plateau
