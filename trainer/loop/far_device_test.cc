// SPDX-License-Identifier: Apache-2.0
// Whole runs on a device whose memory the host cannot touch: what is proved of --device cuda on a
// machine without a GPU (device/testing/far_device.h says what is not).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ostream>

#include "trainer/device/testing/far_device.h"
#include "trainer/loop/adapter.h"
#include "trainer/loop/training.h"
#include "trainer/loop/training_case_for_test.h"
#include "trainer/model/testing/tiny_model.h"

namespace plateau::train {
namespace {

// The stored batches, in turn.
class Stored final : public BatchSource {
 public:
  void start(int64_t /*epoch*/, int64_t batch) override { next_ = static_cast<size_t>(batch); }
  Result<std::optional<Batch>> next() override {
    if (next_ == kNames.size()) return std::optional<Batch>();
    return std::optional<Batch>(stored_batch(kNames[next_++]));
  }
  [[nodiscard]] int64_t batches_per_epoch() const override {
    return static_cast<int64_t>(kNames.size());
  }

 private:
  static constexpr std::array<const char*, 3> kNames{"images", "text", "video"};
  size_t next_ = 0;
};

struct Trained6 {
  std::vector<double> losses;
  std::vector<double> norms;
  double evaluation = 0;
  std::vector<int64_t> answer;
  Tensors weights;  // As the last checkpoint has them.
};

// Six steps, an evaluation, a checkpoint after three of them from which the rest goes on, and an
// answer.
class Runs {
 public:
  Runs(ModelOptions options, OptimizerKind kind) : options_(std::move(options)), kind_(kind) {}

  Trained6 on(const std::string& device) {
    const ScratchDirectory folder;
    options_.device = device;
    const auto first = go(folder, 3, {});
    Trained6 out = go(folder, 6, folder.path() / "out/checkpoint-3");
    out.losses.insert(out.losses.begin(), first.losses.begin(), first.losses.end());
    out.norms.insert(out.norms.begin(), first.norms.begin(), first.norms.end());
    return out;
  }

 private:
  Trained6 go(const ScratchDirectory& folder, int64_t steps, const std::filesystem::path& from) {
    const auto model = tiny_model(options_);
    TrainingOptions training;
    training.output_directory = folder.path() / "out";
    training.accumulate = 1;
    training.epochs = 2;
    training.max_steps = 6;
    training.warmup_steps = 1;
    training.save_steps = 3;
    training.eval_steps = 6;
    training.optimizer = {.kind = kind_, .learning_rate = 1e-2};
    if (options_.trained == Trained::adapters) {
      training.adapter_config_json = adapter_config_text({});
    }
    if (!from.empty()) training.resume_from = from;
    Stored source;
    Stored evaluation;
    Watcher watcher;
    const auto done = train(*model, source, &evaluation, training, watcher, [&] {
      return !watcher.steps.empty() && watcher.steps.back().step == steps;
    });
    EXPECT_TRUE(done.ok()) << done.error().message;
    Trained6 out;
    out.losses = watcher.losses();
    for (const StepReport& step : watcher.steps) out.norms.push_back(step.grad_norm);
    if (!watcher.evaluations.empty()) out.evaluation = watcher.evaluations.back().loss;
    auto answer = model->generate(stored_batch("images"), 4, {});
    EXPECT_TRUE(answer.ok());
    out.answer = answer.value();
    for (const NamedTensor& named : model->trainable()) {
      EXPECT_EQ(named.tensor->device().str(), options_.device == "cpu" ? "cpu" : "far:0");
      out.weights[named.name] = named.tensor->detach().cpu();
    }
    return out;
  }

  ModelOptions options_;
  OptimizerKind kind_;
};

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double out = a.size() == b.size() ? 0 : HUGE_VAL;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    out = std::max(out, std::abs(a[i] - b[i]));
  }
  return out;
}

struct Way {
  const char* name;
  Trained trained = Trained::adapters;
  BaseStorage storage = BaseStorage::fp32;
  OptimizerKind kind = OptimizerKind::adamw;
  ComputeType compute = ComputeType::fp32;
  bool dora = false;
  double dropout = 0;
};

void PrintTo(const Way& way, std::ostream* out) {
  *out << way.name;
}

class EachWay : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(
    FarDevice, EachWay,
    testing::Values(
        Way{.name = "Lora"},
        Way{.name = "Nf4AndEightBits",
            .storage = BaseStorage::nf4,
            .kind = OptimizerKind::adamw_8bit,
            .dropout = 0.2},
        Way{.name = "DoraOverBf16", .storage = BaseStorage::bf16, .dora = true},
        Way{.name = "Whole", .trained = Trained::everything},
        Way{.name = "ComputedInBf16", .storage = BaseStorage::bf16, .compute = ComputeType::bf16}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_P(EachWay, TrainsAsOnTheCpuAndTheHostNeverLooksIntoItsMemory) {
  const Way& way = GetParam();
  ModelOptions options = options_of(way.trained, way.storage);
  options.compute = way.compute;
  options.lora.dora = way.dora;
  options.lora.dropout = way.dropout;
  Runs runs(options, way.kind);
  const Trained6 here = runs.on("cpu");
  const Trained6 there = runs.on(far::add_device());
  ASSERT_EQ(here.losses.size(), 6U);
  EXPECT_LT(here.losses.back(), here.losses.at(2));
  // Attention adds up in another order; everything else is the same arithmetic.
  const double scale = way.compute == ComputeType::bf16 ? 2e-2 : 1e-4;
  EXPECT_LE(largest_difference(here.losses, there.losses), scale * here.losses.front());
  EXPECT_LE(largest_difference(here.norms, there.norms), 20 * scale);
  EXPECT_NEAR(there.evaluation, here.evaluation, scale * here.evaluation);
  EXPECT_EQ(there.answer.size(), here.answer.size());
  ASSERT_EQ(there.weights.size(), here.weights.size());
  EXPECT_FALSE(here.weights.empty());
}

TEST(FarDevice, EndsAProcessThatLooksIntoItsMemory) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const char* device = far::add_device();
  EXPECT_DEATH(
      {
        const at::Tensor tensor = at::ones({4}).to(at::Device(device));
        std::fprintf(stderr, "%g", static_cast<double>(*tensor.data_ptr<float>()));
      },
      "^$");
  const at::Tensor far_one = at::ones({4}).to(at::Device(device));
  EXPECT_EQ(far_one.sum().item<double>(), 4);
  EXPECT_ANY_THROW(at::mul(far_one, at::ones({4})));
}

}  // namespace
}  // namespace plateau::train
