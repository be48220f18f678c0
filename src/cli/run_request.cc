// SPDX-License-Identifier: Apache-2.0
#include "cli/run_request.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <filesystem>

#include "base/text.h"
#include "cli/census_options.h"
#include "cli/serve_address.h"
#include "cli/shared_options.h"
#include "cli/tell_options.h"
#include "tell/bridge.h"

namespace plateau {
namespace {

constexpr double kMinIntervalSeconds = 0.01;
constexpr double kMinHeapIntervalBytes = 1024;
constexpr double kMaxHeapIntervalBytes = 1024.0 * 1024 * 1024;

Options watching_options() {
  return grouped(
      "Watching",
      {option("output", Takes::file, "FILE",
              "Write the recording to FILE (default: COMMAND-DATE-TIME.plateau here).", 'o'),
       flag("no-recording", "Keep the recording in memory only; nothing is written."),
       flag("no-auto",
            "Do not read steps, epochs and evaluations from the training framework inside the "
            "job's Python (torch, transformers, Lightning, accelerate ...); also PLATEAU_AUTO=0."),
       option("interval", Takes::seconds, "TIME",
              "Time between samples (default: 0.1 s at first, stretching to 1 s)."),
       option("walk-share", Takes::text, "PERCENT",
              "Share of the job's time that page-table walks may take (default 0.2, at most 10); a "
              "larger share shows copy-on-write sooner in very short jobs."),
       may_be_bare(choice(
           "heap", "MODE", {"sampled", "exact"},
           "Record which call stacks hold memory, for 'plateau profile FILE': sampled (default, "
           "costs a few percent) or exact (every allocation).")),
       option(
           "heap-interval", Takes::memory, "SIZE",
           "With --heap: mean number of allocated bytes between samples (default 512KiB); fewer is "
           "finer and costs more."),
       may_be_bare(option(
           "serve", Takes::text, "ADDR:PORT",
           "Show the job live in a browser while it runs, as 'plateau serve' does; the address "
           "is printed on standard error (default 127.0.0.1:7528, or a free port).")),
       flag("keep-orphans", "Leave processes that outlive the job running (default: end them).")});
}

Options writing_options() {
  return grouped("Watching", recording_options());
}

Options limit_options() {
  return grouped(
      "Limit",
      {choice(
           "on-limit", "WHAT", {"warn", "checkpoint", "stop"},
           "When the job passes --limit: warn (default), checkpoint (signal it to save, then "
           "SIGTERM, then SIGKILL, each --grace apart) or stop (SIGTERM, then SIGKILL). The last "
           "two also set a cgroup limit a little above it, where that is permitted."),
       option("save-signal", Takes::text, "NAME",
              "Signal that asks the job to save (default USR1); it is sent only to a process that "
              "handles it."),
       option("grace", Takes::seconds, "TIME",
              "Time between the stages of --on-limit (default 30s)."),
       option(
           "restart", Takes::count, "N",
           "Restart the command up to N times when it fails or is stopped at its limit, for jobs "
           "that resume. Each attempt gets its own recording.")});
}

Options answer_options() {
  return grouped(
      "Answer",
      {flag("explain", "Also show every explanation that competed."),
       flag("json", "Print the verdict as one JSON object, on standard error like the report.")});
}

Result<double> walk_share(const Arguments& arguments) {
  const std::optional<std::string> text = arguments.text("walk-share");
  if (!text) return ProbeOptions().walk_share;
  const std::optional<double> percent = parse_double(*text);
  if (!percent || !(*percent > 0 && *percent <= 10)) {
    return usage_error(fmt::format("--walk-share takes a percentage up to 10, not '{}'", *text));
  }
  return *percent / 100;
}

Result<LimitPolicy> limit_policy(const Arguments& arguments) {
  LimitPolicy policy;
  policy.limit_mb = arguments.memory_mb("limit").value_or(0);
  const std::string what = arguments.text("on-limit").value_or("warn");
  if (what == "checkpoint") policy.on_limit = OnLimit::checkpoint;
  if (what == "stop") policy.on_limit = OnLimit::stop;
  policy.grace_s = arguments.seconds("grace").value_or(policy.grace_s);
  if (arguments.has("on-limit") && policy.limit_mb <= 0) {
    return usage_error("--on-limit needs --limit");
  }
  return policy;
}

Result<std::optional<KeeperOptions>> heap_options(const Arguments& arguments) {
  if (!arguments.has("heap")) {
    if (!arguments.has("heap-interval")) return std::optional<KeeperOptions>();
    return usage_error("--heap-interval goes with --heap");
  }
  if (arguments.has("no-recording")) {
    return usage_error("--heap needs a recording; leave --no-recording out");
  }
  KeeperOptions options;
  if (arguments.text("heap") == "exact") options.mode = HeapMode::exact;
  if (const std::optional<double> mb = arguments.memory_mb("heap-interval")) {
    const double bytes = *mb * 1e6;
    if (options.mode == HeapMode::exact) {
      return usage_error("--heap=exact records every block; it has no interval");
    }
    if (!(bytes >= kMinHeapIntervalBytes && bytes <= kMaxHeapIntervalBytes)) {
      return usage_error("--heap-interval takes 1KiB to 1GiB");
    }
    options.interval_bytes = static_cast<uint64_t>(bytes);
  }
  return std::optional<KeeperOptions>(options);
}

Result<std::optional<ServeOptions>> serve_options(const Arguments& arguments) {
  if (!arguments.has("serve")) return std::optional<ServeOptions>();
  if (arguments.has("no-recording")) {
    return usage_error("--serve needs a recording; leave --no-recording out");
  }
  const Result<ServeOptions> serve = serve_at(arguments.text("serve").value_or(""), std::nullopt);
  if (!serve) return serve.error();
  return std::optional<ServeOptions>(serve.value());
}

}  // namespace

Options run_options() {
  return together({watching_options(), grouped("Watching", census_options()), writing_options(),
                   limit_options(), tell_options(), push_options(), context_options(),
                   answer_options(), expect_options(), look_options()});
}

int signal_from_name(std::string_view name) {
  if (const std::optional<int64_t> number = parse_int(name)) {
    return *number >= 1 && *number <= 64 ? static_cast<int>(*number) : 0;
  }
  if (name.starts_with("SIG")) name.remove_prefix(3);
  for (int number = 1; number < 32; ++number) {
    const char* abbreviation = sigabbrev_np(number);
    if (abbreviation != nullptr && name == abbreviation) return number;
  }
  return 0;
}

std::string default_recording_name(const std::vector<std::string>& command, int64_t unix_s,
                                   std::optional<int64_t> rank) {
  // "python train.py" is called after the script, not the interpreter.
  const auto stem = [](const std::string& word) {
    return std::filesystem::path(word).stem().string();
  };
  std::string name = stem(command.front());
  const bool interpreter =
      name.starts_with("python") || name == "sh" || name == "bash" || name == "uv";
  if (interpreter) {
    for (size_t i = 1; i < command.size(); ++i) {
      if (!command[i].ends_with(".py") && !command[i].ends_with(".sh")) continue;
      name = stem(command[i]);
      break;
    }
  }
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !is_letter(c) && !is_digit(c) && c != '_'; },
      '-');
  // A name that looks like an option is a trap for every later command.
  name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
  if (name.empty()) name = "job";
  const time_t time = static_cast<time_t>(unix_s);
  tm local = {};
  localtime_r(&time, &local);
  return fmt::format("{}-{:04}{:02}{:02}-{:02}{:02}{:02}{}.plateau", name.substr(0, 60),
                     local.tm_year + 1900, local.tm_mon + 1, local.tm_mday, local.tm_hour,
                     local.tm_min, local.tm_sec, rank ? fmt::format("-rank{}", *rank) : "");
}

std::string attempt_name(const std::string& path, size_t attempt) {
  if (attempt <= 1 || path.empty()) return path;
  const std::string_view suffix = ".plateau";
  const bool has_suffix = std::string_view(path).ends_with(suffix);
  const std::string stem = has_suffix ? path.substr(0, path.size() - suffix.size()) : path;
  return fmt::format("{}.{}{}", stem, attempt, has_suffix ? suffix : "");
}

Result<RunRequest> run_request(const Arguments& arguments) {
  RunRequest request;
  request.job.command = arguments.positionals;
  if (!arguments.has("no-recording")) {
    request.job.recording_path = arguments.text("output").value_or("");
    request.default_name = !arguments.has("output");
  } else if (arguments.has("output")) {
    return usage_error("--output and --no-recording exclude each other");
  }
  take_recording_options(arguments, request.job);
  request.job.interval_s = arguments.seconds("interval").value_or(0);
  if (arguments.has("interval") && request.job.interval_s < kMinIntervalSeconds) {
    return usage_error("--interval takes at least 0.01s");
  }
  const Result<double> share = walk_share(arguments);
  if (!share) return share.error();
  request.job.probe.walk_share = share.value();
  // Who allows the job's time to be spent allows ours, in the proportion of the defaults.
  request.job.probe.walk_cpu_share *= std::max(1.0, share.value() / ProbeOptions().walk_share);
  const Result<double> census = census_share(arguments);
  if (!census) return census.error();
  request.job.census_share = census.value();
  const Result<LimitPolicy> limit = limit_policy(arguments);
  if (!limit) return limit.error();
  request.job.limit = limit.value();
  const std::string save = arguments.text("save-signal").value_or("USR1");
  request.job.save_signal = signal_from_name(save);
  if (request.job.save_signal == 0) {
    return usage_error(fmt::format("--save-signal: there is no signal '{}'", save));
  }
  const Result<std::optional<ServeOptions>> serve = serve_options(arguments);
  if (!serve) return serve.error();
  request.serve = serve.value();
  request.serve_port_chosen = !arguments.text("serve").value_or("").empty();
  const Result<std::optional<KeeperOptions>> heap = heap_options(arguments);
  if (!heap) return heap.error();
  request.job.heap = heap.value();
  const Result<TellOptions> tell = tell_request(arguments);
  if (!tell) return tell.error();
  request.tell = tell.value();
  request.tell.name = std::filesystem::path(request.job.command.front()).filename().string();
  request.tell.python = python_of(request.job.command);
  const Result<PushRequest> push = push_request(arguments);
  if (!push) return push.error();
  request.push = push.value();
  request.job.learns_steps = !arguments.has("no-auto");
  request.job.keep_orphans = arguments.has("keep-orphans");
  request.job.given = given_facts(arguments);
  request.restarts = static_cast<size_t>(arguments.number("restart").value_or(0));
  request.policy = policy_of(arguments);
  const Result<Expectation> expected = expectation_of(arguments);
  if (!expected) return expected.error();
  request.expected = expected.value();
  request.json = arguments.has("json");
  request.quiet = arguments.has("quiet");
  request.explain = arguments.has("explain");
  request.view = view_of(arguments, STDERR_FILENO);
  return request;
}

}  // namespace plateau
