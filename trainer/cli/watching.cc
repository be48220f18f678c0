// SPDX-License-Identifier: Apache-2.0
#include "trainer/cli/watching.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/units.h"
#include "command/screen.h"
#include "trainer/cli/progress.h"

namespace plateau::train {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenDraws{200};
constexpr std::chrono::seconds kBetweenVerdicts{2};
constexpr size_t kUsualColumns = 80;

double seconds_since(steady_clock::time_point begin) {
  return std::chrono::duration<double>(steady_clock::now() - begin).count();
}

// A line can be rewritten there.
bool can_rewrite() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

double in_mb(int64_t bytes) {
  return static_cast<double>(bytes) / kBytesPerMb;
}

// ", 3 of 24 answers right, 61 of 72 JSON fields"; empty if none were asked for.
std::string answers_text(const EvalReport& report) {
  if (!report.answers) return "";
  const AnswerScore& score = *report.answers;
  std::string out =
      fmt::format(", {} of {} answers right", format_count(score.exact), format_count(score.asked));
  if (score.json_expected > 0) {
    out += fmt::format(", {} of {} JSON fields", format_count(score.fields_right),
                       format_count(score.fields));
  }
  return out;
}

}  // namespace

Watching::Watching(Output& out, const View& view, RunFacts facts, int64_t logging_steps, bool quiet)
    : out_(out),
      view_(view),
      facts_(facts),
      logging_steps_(std::max<int64_t>(logging_steps, 1)),
      quiet_(quiet),
      on_terminal_(can_rewrite()) {}

Watching::~Watching() {
  wipe();
}

void Watching::began(int64_t total_steps, int64_t first_step) {
  begin_ = next_draw_ = next_verdict_ = steady_clock::now();
  first_step_ = first_step;
  Facts said;
  said.total_steps = static_cast<double>(total_steps);
  said.examples = facts_.examples;
  said.batch = facts_.batch;
  said.epoch_steps = facts_.epoch_steps;
  client_.run_facts(said);
  self_.began(total_steps, facts_.examples, facts_.batch, facts_.epoch_steps);
}

void Watching::stepped(const StepReport& report) {
  client_.step(report.step, report.epoch);
  client_.gauge("loss", report.loss);
  if (report.tensor_storages > 0) {
    // Named as the Python client's census names them.
    client_.gauge("tensors.cpu", static_cast<double>(report.tensor_storages));
    client_.gauge("tensors.cpu.bytes", static_cast<double>(report.tensor_bytes));
  }
  self_.stepped(report.step, report.epoch, report.resident_bytes);
  if (quiet_) return;
  const auto now = steady_clock::now();
  if (now >= next_verdict_) {
    word_ = word_name(self_.verdict().word);
    next_verdict_ = now + kBetweenVerdicts;
  }
  if (on_terminal_ && now >= next_draw_) {
    next_draw_ = now + kBetweenDraws;
    show_line(report);
  }
  if (!on_terminal_ && report.step % logging_steps_ == 0) {
    out_.remark(fmt::format("step {}/{} epoch {:.2f} loss {:.4f} lr {:.3g} RAM: {:.0f} MB\n",
                            report.step, report.total_steps, report.epoch, report.loss,
                            report.learning_rate, in_mb(report.resident_bytes)));
  }
}

void Watching::show_line(const StepReport& report) {
  const int64_t done = report.step - first_step_;
  const double rate = done > 0 ? static_cast<double>(done) / seconds_since(begin_) : 0;
  const Surroundings around = look_around(STDERR_FILENO);  // The window may have changed.
  // One column stays free: many terminals go to the next line when the last one is written.
  const size_t columns = around.terminal_columns.value_or(kUsualColumns) - 1;
  const std::string line = progress_line({.step = report.step,
                                          .total_steps = report.total_steps,
                                          .loss = report.loss,
                                          .steps_per_second = rate,
                                          .resident_mb = in_mb(report.resident_bytes),
                                          .verdict = word_},
                                         columns);
  out_.remark("\r\x1b[K" + line);
  shown_ = true;
}

void Watching::evaluation_began(int64_t /*step*/) {
  client_.begin("eval");
}

void Watching::evaluated(const EvalReport& report) {
  client_.end("eval");
  self_.marked(EventKind::eval);
  if (quiet_) return;
  wipe();
  out_.remark(fmt::format("step {}: evaluation loss {:.4f}{}{}, {}\n", report.step, report.loss,
                          report.is_best ? ", the best so far" : "", answers_text(report),
                          format_seconds(report.seconds)));
}

void Watching::noted(const std::string& message) {
  wipe();
  out_.remark(fmt::format("note: {}\n", message));
}

void Watching::checkpointed(int64_t /*step*/, const std::filesystem::path& directory) {
  client_.mark("checkpoint");
  self_.marked(EventKind::checkpoint);
  if (quiet_) return;
  wipe();
  out_.remark(fmt::format("saved {}\n", directory.string()));
}

void Watching::wipe() {
  if (shown_) out_.remark("\r\x1b[K");
  shown_ = false;
}

void Watching::finish() {
  wipe();
}

}  // namespace plateau::train
