// SPDX-License-Identifier: Apache-2.0
// Optimizer steps on one stored batch, for bench/trainer/compare.py: the counterpart of
// beside_peft.py.
//
//   trainer_steps MODEL_DIR CASE.safetensors [STEPS] [THREADS] [RANK] [fp32|bf16|nf4]
//                 [checkpoint|whole] [fp32|bf16]
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "trainer/loop/heap.h"
#include "trainer/loop/memory_tracker.h"
#include "trainer/loop/tensors.h"
#include "trainer/model/qwen.h"
#include "trainer/model/reference_check.h"
#include "trainer/model/runtime.h"
#include "trainer/optim/optimizer.h"
#include "trainer/store/weight_names.h"

namespace {

using namespace plateau;
using namespace plateau::train;

[[noreturn]] void fail(const Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  std::exit(2);
}

template <typename T>
T must(Result<T> result) {
  if (!result) fail(result.error());
  return std::move(result.value());
}

struct Timing {
  double first_loss = 0;
  double last_loss = 0;
  std::vector<double> seconds;      // By the clock.
  std::vector<double> cpu_seconds;  // Of all threads.
  double start_cpu_seconds = 0;     // Before the first step.
};

double used_cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// The first step warms up.
double middle_of(std::vector<double> values) {
  if (values.size() > 1) values.erase(values.begin());
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Timing run_steps(QwenVl& model, const Batch& batch, int steps) {
  OptimizerOptions options;
  options.kind = OptimizerKind::adamw;
  Optimizer optimizer(model.trainable(), options);
  Timing timing;
  timing.start_cpu_seconds = used_cpu_seconds();
  for (int step = 0; step < steps; ++step) {
    const auto begin = std::chrono::steady_clock::now();
    const double cpu_begin = used_cpu_seconds();
    const LossSum loss = must(model.forward(batch));
    const double mean = 1.0 / static_cast<double>(loss.labelled);
    must(add_gradients(loss.sum, mean));
    optimizer.clip();
    optimizer.step(1e-3);
    optimizer.zero_grad();
    release_kept_blocks();
    timing.last_loss = value_of(loss.sum) * mean;
    if (step == 0) timing.first_loss = timing.last_loss;
    timing.cpu_seconds.push_back(used_cpu_seconds() - cpu_begin);
    timing.seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return timing;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr,
                 "usage: %s MODEL_DIR CASE [STEPS] [THREADS] [RANK] [STORAGE] [checkpoint|whole] "
                 "[COMPUTED]\n",
                 argv[0]);
    return 2;
  }
  const auto word = [&](int at, const char* otherwise) {
    return std::string(argc > at ? argv[at] : otherwise);
  };
  const int steps = std::atoi(word(3, "20").c_str());
  // As plateau-train does.
  map_large_blocks();
  install_memory_tracker();
  use_threads(std::atoi(word(4, "2").c_str()));
  ModelOptions options;
  options.lora.rank = std::atoi(word(5, "16").c_str());
  options.lora.alpha = static_cast<double>(options.lora.rank);
  const std::string storage = word(6, "fp32");
  options.storage = storage == "nf4"    ? BaseStorage::nf4
                    : storage == "bf16" ? BaseStorage::bf16
                                        : BaseStorage::fp32;
  options.gradient_checkpointing = word(7, "") == "checkpoint";
  if (word(8, "fp32") == "bf16") options.compute = ComputeType::bf16;
  const ModelConfig config = must(read_model_config(argv[1]));
  auto files = std::make_shared<const WeightFiles>(must(WeightFiles::open(argv[1])));
  must(check_weights(config, *files));
  const std::unique_ptr<QwenVl> model = must(QwenVl::load(config, std::move(files), options));
  release_kept_blocks();
  trim_heap();
  const Batch batch = must(read_reference_batch(argv[2]));
  const Timing timing = run_steps(*model, batch, steps);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  std::printf(
      "{\"first_loss\": %.9g, \"last_loss\": %.9g, \"tokens_per_second\": %.6g, "
      "\"step_cpu_seconds\": %.6g, \"start_cpu_seconds\": %.6g, \"peak_mb\": %.6g}\n",
      timing.first_loss, timing.last_loss,
      static_cast<double>(batch.tokens) / middle_of(timing.seconds), middle_of(timing.cpu_seconds),
      timing.start_cpu_seconds, static_cast<double>(used.ru_maxrss) * 1024 / 1e6);
  return 0;
}
