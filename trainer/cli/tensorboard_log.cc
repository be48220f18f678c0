// SPDX-License-Identifier: Apache-2.0
#include "trainer/cli/tensorboard_log.h"

#include <chrono>
#include <cmath>
#include <utility>

#include "base/units.h"

namespace plateau::train {
namespace {

double unix_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

double in_mb(int64_t bytes) {
  return static_cast<double>(bytes) / kBytesPerMb;
}

}  // namespace

TensorboardLog::TensorboardLog(TensorboardWriter writer, TrainingObserver& next)
    : writer_(std::move(writer)), next_(next) {}

void TensorboardLog::began(int64_t total_steps, int64_t first_step) {
  if (first_step > 0) writer_.restart(unix_s(), first_step + 1);
  next_.began(total_steps, first_step);
}

void TensorboardLog::stepped(const StepReport& report) {
  Curves curves = {{"train/loss", report.loss},
                   {"train/learning_rate", report.learning_rate},
                   {"train/grad_norm", report.grad_norm},
                   {"train/epoch", report.epoch},
                   {"train/tokens", static_cast<double>(report.tokens)},
                   {"memory/resident_mb", in_mb(report.resident_bytes)}};
  if (report.seconds > 0) {
    curves.emplace_back("train/tokens_per_second",
                        static_cast<double>(report.tokens) / report.seconds);
  }
  if (report.tensor_storages > 0) {
    curves.emplace_back("memory/tensors_mb", in_mb(report.tensor_bytes));
    curves.emplace_back("memory/tensors_peak_mb", in_mb(report.tensor_peak_bytes));
  }
  writer_.scalars(unix_s(), report.step, curves);
  tell_trouble();
  next_.stepped(report);
}

void TensorboardLog::evaluated(const EvalReport& report) {
  Curves curves = {{"eval/loss", report.loss}};
  for (const auto& [name, value] : measures_of(report)) curves.emplace_back("eval/" + name, value);
  writer_.scalars(unix_s(), report.step, curves);
  tell_trouble();
  next_.evaluated(report);
}

void TensorboardLog::tell_trouble() {
  if (const std::string trouble = writer_.trouble(); !trouble.empty()) next_.noted(trouble);
}

}  // namespace plateau::train
