// SPDX-License-Identifier: Apache-2.0
#include "tell/teller.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/json_writer.h"
#include "base/printable.h"
#include "curves/tensorboard_writer.h"
#include "http/client.h"
#include "report/json.h"
#include "report/printable.h"
#include "tell/bridge.h"
#include "tell/errand.h"
#include "words/verdict_words.h"

namespace plateau {
namespace {

constexpr double kCommandSeconds = 60;
constexpr double kPostPause = 10;   // Between two posts.
constexpr double kPostSeconds = 8;  // One try.
constexpr int kPostTries = 3;
constexpr double kRetrySeconds = 1;  // Before the second; twice that before the third.
constexpr double kPostMost = kPostTries * (kPostSeconds + 2 * kRetrySeconds);
constexpr double kFarewellSeconds = 35;
constexpr double kBridgeFarewell = 20;
constexpr int kPollMs = 20;
// A point of the curves every second at first, every ten after some hours.
constexpr double kCurveShare = 1.0 / 1000;
constexpr double kFewestCurveSeconds = 1;
constexpr double kMostCurveSeconds = 10;
// A job that says no step within this time has none, or says the first one late.
constexpr double kStepsAwaitedSeconds = 60;

// In a child: tries until it is taken, or nobody takes it.
std::string post(const HttpRequest& request) {
  Result<HttpClient> client = HttpClient::open();
  if (!client) return client.error().message;
  std::string wrong;
  for (int attempt = 0; attempt < kPostTries; ++attempt) {
    if (attempt > 0) poll(nullptr, 0, static_cast<int>(1000 * kRetrySeconds * attempt));
    const Result<HttpAnswer> answer = client.value().post(request);
    if (!answer) {
      wrong = answer.error().message;
      continue;
    }
    const int status = answer.value().status;
    if (status >= 200 && status < 300) return "";
    const bool elsewhere = status >= 300 && status < 400;
    wrong = fmt::format("{} answers with status {}{}", origin_of(request.url), status,
                        elsewhere ? ", which leads elsewhere: give the address it leads to" : "");
    // What is refused for good is not asked for again.
    if (status < 500 && status != 429 && status != 408) return wrong;
  }
  return fmt::format("{}; tried {} times", wrong, kPostTries);
}

std::vector<std::pair<std::string, std::string>> variables(const Verdict& verdict,
                                                           const LiveMoment& moment,
                                                           const TellOptions& options) {
  const Verdict clean = printable_verdict(verdict);
  return {{"PLATEAU_VERDICT", std::string(word_name(clean.word))},
          {"PLATEAU_CONFIDENCE", fmt::format("{:.3f}", clean.confidence)},
          {"PLATEAU_HEADLINE", headline_of(clean)},
          {"PLATEAU_TEXT", one_line(clean)},
          {"PLATEAU_RECORDING", options.recording},
          {"PLATEAU_PID", std::to_string(moment.pid)},
          {"PLATEAU_STEP", moment.step >= 0 ? std::to_string(moment.step) : ""},
          {"PLATEAU_MEMORY_MB", fmt::format("{:.0f}", clean.last_mb)},
          {"PLATEAU_NAME", printable(options.name)}};
}

}  // namespace

std::string webhook_body(const Verdict& verdict, bool end, const std::string& name) {
  Verdict named = verdict;
  if (named.file.empty()) named.file = name;
  JsonWriter json;
  json.begin_object().members("text", one_line(named), "event", end ? "end" : "change");
  std::string body = json.take();
  return body + "," + verdict_json(named).substr(1);
}

struct Teller::Inside {
  explicit Inside(TellOptions given) : options(std::move(given)) {}

  // What waits for its axis (steps, or seconds where there are none), and the newest point.
  struct Point {
    double unix_s = 0;
    double elapsed_s = 0;
    Curves curves;
    int64_t step = -1;
  };

  void errands() {
    const auto ended = [this](std::optional<Errand>& errand, std::string_view what) {
      if (!errand) return;
      const std::optional<std::string> account = errand->account();
      if (!account) return;
      if (!account->empty()) options.say(fmt::format("{}: {}", what, printable(*account)));
      errand.reset();
    };
    ended(command, "--on-leak");
    ended(posting, "--on-verdict");
  }

  void leaked(const Verdict& verdict, const LiveMoment& moment) {
    if (options.on_leak.empty() || told_leak || verdict.word != Word::leak) return;
    told_leak = true;
    Verdict named = verdict;
    if (named.file.empty()) named.file = options.name;
    const ShellCommand shell{.command = options.on_leak,
                             .variables = variables(named, moment, options),
                             .input = verdict_json(named) + "\n",
                             .show_output = options.show_output,
                             .most_s = kCommandSeconds};
    command = Errand::start("plateau-on-leak", kCommandSeconds, [&] { return run_shell(shell); });
    if (!command) options.say("--on-leak: cannot fork");
  }

  // Sends what waits, if nothing is on its way and the pause is over.
  void send_waiting(bool hurry) {
    if (waiting.empty() || posting) return;
    const double now_s = monotonic_now_s();
    if (!hurry && now_s < next_post_s) return;
    next_post_s = now_s + kPostPause;
    const HttpRequest request{.url = options.webhook,
                              .headers = options.headers,
                              .body = std::exchange(waiting, ""),
                              .connect_s = kPostSeconds,
                              .total_s = kPostSeconds,
                              .most_bytes = 1U << 20};
    posting = Errand::start("plateau-post", kPostMost, [&] { return post(request); });
    if (!posting) options.say("--on-verdict: cannot fork");
  }

  void changed(const Verdict& verdict) {
    if (options.webhook.empty() || verdict.word == told_word) return;
    told_word = verdict.word;
    waiting = webhook_body(verdict, false, options.name);
  }

  void put(const Point& point) {
    const int64_t step = point.step >= 0 ? point.step : static_cast<int64_t>(point.elapsed_s);
    if (tensorboard) tensorboard->scalars(point.unix_s, step, point.curves);
    for (Bridge& bridge : bridges) bridge.curves(point.unix_s, step, point.curves);
  }

  // All but the newest, of which only the next look tells whether the job was ending then.
  void put_waiting(const LiveMoment& moment, bool last) {
    for (Point& point : points) {
      if (point.step < 0 && moment.step >= 0) point.step = 0;
    }
    if (last && !points.empty() && moment.verdict != nullptr) {
      leave_out_tear_down(points.back().curves, *moment.verdict);
    }
    for (const Point& point : points) put(point);
    points.clear();
  }

  void draw(const LiveMoment& moment, bool last) {
    if (!tensorboard && bridges.empty()) return;
    // A job that was started again counts its seconds anew.
    next_curve_s = std::min(next_curve_s, moment.elapsed_s + kMostCurveSeconds);
    if (moment.elapsed_s >= next_curve_s || last) {
      next_curve_s = moment.elapsed_s + std::clamp(moment.elapsed_s * kCurveShare,
                                                   kFewestCurveSeconds, kMostCurveSeconds);
      const bool awaited = moment.step < 0 && !last && moment.elapsed_s < kStepsAwaitedSeconds;
      if (!awaited) put_waiting(moment, last);
      points.push_back({unix_now_s(), moment.elapsed_s, curves_of(moment), moment.step});
      if (last) put_waiting(moment, false);
    }
    if (moment.verdict == nullptr || (moment.verdict->word == drawn_word && !last)) return;
    drawn_word = moment.verdict->word;
    Verdict named = *moment.verdict;
    if (named.file.empty()) named.file = options.name;
    const std::string text = one_line(named);
    const int64_t step = moment.step >= 0 ? moment.step : static_cast<int64_t>(moment.elapsed_s);
    if (tensorboard) tensorboard->text(unix_now_s(), step, "plateau/answer", text);
    for (Bridge& bridge : bridges) {
      bridge.summary("verdict", word_name(*drawn_word));
      bridge.summary("answer", text);
    }
  }

  void remarks() {
    if (tensorboard) {
      if (const std::string trouble = tensorboard->trouble(); !trouble.empty()) {
        options.say(trouble);
      }
    }
    for (Bridge& bridge : bridges) {
      for (const std::string& line : bridge.remarks()) options.say(line);
    }
  }

  TellOptions options;
  std::optional<Errand> command;
  std::optional<Errand> posting;
  std::string waiting;  // The body of the next post.
  double next_post_s = 0;
  bool told_leak = false;
  Word told_word = Word::undecided;  // What everybody begins with is no news.
  std::optional<TensorboardWriter> tensorboard;
  std::vector<Bridge> bridges;
  std::vector<Point> points;
  double next_curve_s = 0;
  std::optional<Word> drawn_word;
};

Teller::Teller(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
Teller::Teller(Teller&&) noexcept = default;
Teller& Teller::operator=(Teller&&) noexcept = default;
Teller::~Teller() = default;

Result<Teller> Teller::start(TellOptions options) {
  auto inside = std::make_unique<Inside>(std::move(options));
  const TellOptions& wanted = inside->options;
  if (!wanted.tensorboard.empty()) {
    Result<TensorboardWriter> writer = TensorboardWriter::create(wanted.tensorboard, unix_now_s());
    if (!writer) return writer.error();
    inside->tensorboard = std::move(writer.value());
  }
  for (const auto& [wished, to] : {std::pair(wanted.wandb, "wandb"), {wanted.mlflow, "mlflow"}}) {
    if (!wished) continue;
    Result<Bridge> bridge = Bridge::start(wanted.python, to, "plateau " + printable(wanted.name));
    if (bridge) {
      inside->bridges.push_back(std::move(bridge.value()));
    } else {
      wanted.say(bridge.error().message);
    }
  }
  return Teller(std::move(inside));
}

void Teller::look(const LiveMoment& moment) {
  Inside& in = *inside_;
  in.errands();
  in.draw(moment, false);
  in.remarks();
  if (moment.verdict != nullptr) {
    in.leaked(*moment.verdict, moment);
    in.changed(*moment.verdict);
  }
  in.send_waiting(false);
}

void Teller::finish(const LiveMoment& moment) {
  Inside& in = *inside_;
  in.draw(moment, true);
  if (moment.verdict != nullptr) {
    in.leaked(*moment.verdict, moment);
    if (!in.options.webhook.empty()) {
      in.waiting = webhook_body(*moment.verdict, true, in.options.name);
    }
  }
  const double until_s = monotonic_now_s() + kFarewellSeconds;
  in.errands();
  in.send_waiting(true);
  const auto busy = [&in] { return in.command || in.posting || !in.waiting.empty(); };
  while (busy() && monotonic_now_s() < until_s) {
    poll(nullptr, 0, kPollMs);
    in.errands();
    in.send_waiting(true);
  }
  if (in.posting || !in.waiting.empty()) {
    in.options.say("--on-verdict: the last answer may not have arrived");
  }
  if (in.command) in.options.say("--on-leak: the command still runs; it has a minute in all");
  for (Bridge& bridge : in.bridges) bridge.end(kBridgeFarewell);
  in.errands();
  in.remarks();
}

std::vector<pid_t> Teller::pids() const {
  std::vector<pid_t> all;
  if (inside_->command) all.push_back(inside_->command->pid());
  if (inside_->posting) all.push_back(inside_->posting->pid());
  for (const Bridge& bridge : inside_->bridges) all.push_back(bridge.pid());
  return all;
}

void Teller::recording_is(const std::string& path) {
  inside_->options.recording = path;
}

}  // namespace plateau
