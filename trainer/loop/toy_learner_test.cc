// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <thread>

#include "trainer/loop/memory_tracker.h"
#include "trainer/loop/tensors.h"
#include "trainer/loop/toy_learner_for_test.h"

namespace plateau::train {
namespace {

class Toy final : public Learner {
 public:
  explicit Toy(const ToyOptions& options) : options_(options) {
    at::manual_seed(options.seed);
    const int64_t vocabulary = options.vocabulary;
    add("base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight",
        at::randn({vocabulary, options.width}) * 0.3);
    add("base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight",
        at::randn({vocabulary, options.width}) * 0.1);
    add("base_model.model.visual.blocks.0.attn.qkv.lora_B.weight", at::zeros({vocabulary}));
  }

  Result<LossSum> forward(const Batch& batch) override { return loss(batch, true); }
  Result<LossSum> evaluate(const Batch& batch) override {
    const at::NoGradGuard no_graph;
    return loss(batch, false);
  }
  std::vector<NamedTensor> trainable() override { return weights_; }

 private:
  void add(const char* name, const at::Tensor& tensor) {
    weights_.push_back({.name = name, .tensor = std::make_shared<at::Tensor>(tensor)});
    weights_.back().tensor->requires_grad_(true);
  }

  Result<LossSum> loss(const Batch& batch, bool is_training) {
    if (batch.columns < 2) return Error{Error::Kind::bad_input, "a row is too short"};
    const at::Tensor ids = at::from_blob(const_cast<int64_t*>(batch.ids.data()),
                                         {batch.rows, batch.columns}, at::kLong);
    const at::Tensor labels = at::from_blob(const_cast<int64_t*>(batch.labels.data()),
                                            {batch.rows, batch.columns}, at::kLong);
    at::Tensor hidden = at::embedding(*weights_[0].tensor, ids.slice(1, 0, batch.columns - 1));
    hidden = at::dropout(hidden, options_.dropout, is_training).tanh();
    const at::Tensor logits =
        at::linear(hidden, *weights_[1].tensor, *weights_[2].tensor).flatten(0, 1);
    at::Tensor sum = at::nll_loss(at::log_softmax(logits, -1), labels.slice(1, 1).flatten().clone(),
                                  {}, at::Reduction::Sum, kNoLabel);
    if (ids.eq(options_.poison).any().item<bool>()) sum = sum * std::nan("");
    return LossSum{.sum = std::make_shared<at::Tensor>(sum), .labelled = batch.labelled};
  }

  ToyOptions options_;
  std::vector<NamedTensor> weights_;
};

}  // namespace

std::unique_ptr<Learner> make_toy(const ToyOptions& options) {
  return std::make_unique<Toy>(options);
}

Tensor tensor_with(const std::vector<float>& values, const std::vector<int64_t>& shape) {
  at::Tensor tensor = at::empty(shape, at::kFloat);
  std::memcpy(tensor.data_ptr(), values.data(), values.size() * sizeof(float));
  return std::make_shared<at::Tensor>(tensor);
}

std::vector<float> values_in(const Tensor& tensor) {
  const float* values = tensor->data_ptr<float>();
  return {values, values + tensor->numel()};
}

std::vector<float> weights_in(Learner& learner) {
  std::vector<float> all;
  for (const NamedTensor& named : learner.trainable()) {
    const std::vector<float> values = values_in(named.tensor);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

namespace {

TEST(Tensors, EveryTypeGoesOutAndComesBack) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf, at::kByte, at::kLong,
                                    at::kInt, at::kDouble, at::kBool, at::kChar, at::kShort}) {
    const auto tensor = std::make_shared<at::Tensor>(at::randn({3, 5}).mul(3).to(type));
    const TensorView view = view_of("x", tensor);
    EXPECT_EQ(view.shape, (std::vector<int64_t>{3, 5}));
    const auto back = tensor_of(view);
    ASSERT_TRUE(back.ok());
    EXPECT_TRUE(back.value()->equal(*tensor));
    EXPECT_NE(back.value()->data_ptr(), tensor->data_ptr());
  }
  EXPECT_FALSE(tensor_of({.name = "x", .dtype = DType::u64}).ok());
}

TEST(Tensors, GeneratorGoesOnFromItsState) {
  seed_generator(5);
  at::randn({7});
  const auto beside = tensor_with({0}, {1});
  const std::vector<std::byte> state = generator_state(beside);
  const at::Tensor first = at::randn({20});
  ASSERT_TRUE(set_generator_state(beside, state).ok());
  EXPECT_TRUE(at::randn({20}).equal(first));
  EXPECT_FALSE(set_generator_state(beside, std::span(state).first(12)).ok());
}

TEST(Tensors, GradientsAreThoseOfTheWeightedLoss) {
  const auto x = tensor_with({3}, {1});
  x->requires_grad_(true);
  const auto loss = std::make_shared<at::Tensor>(x->square().sum());
  ASSERT_TRUE(add_gradients(loss, 0.5).ok());
  EXPECT_EQ(x->grad().item<float>(), 3);
  // A second way back over a graph that was let go: what LibTorch throws becomes an error.
  EXPECT_FALSE(add_gradients(loss, 0.5).ok());
}

TEST(MemoryTracker, CountsStoragesToTheByteInEveryThread) {
  install_memory_tracker();
  install_memory_tracker();
  const TensorMemory before = tensor_memory();
  const auto live = [&] { return tensor_memory().live_bytes - before.live_bytes; };
  const auto storages = [&] { return tensor_memory().live_storages - before.live_storages; };
  {
    const at::Tensor large = at::zeros({1024, 1024});
    EXPECT_EQ(live(), 4194304);
    EXPECT_EQ(storages(), 1);
    const at::Tensor view = large.view({-1}).slice(0, 3, 9);
    EXPECT_EQ(live(), 4194304);
    const at::Tensor copy = large.clone();
    EXPECT_EQ(live(), 8388608);
    at::Tensor other;
    std::thread([&] { other = at::zeros({256}); }).join();
    EXPECT_EQ(live(), 8388608 + 1024);
    EXPECT_EQ(storages(), 3);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(other.data_ptr()) % 64, 0U);
  }
  EXPECT_EQ(live(), 0);
  EXPECT_EQ(storages(), 0);
  EXPECT_GE(tensor_memory().peak_bytes, before.live_bytes + 8388608);
}

TEST(MemoryTracker, PhasesHaveTheirOwnPeaksAndOwners) {
  install_memory_tracker();
  const auto of = [](const auto& array, MemoryPhase phase) {
    return array[static_cast<size_t>(phase)];
  };
  // Larger than anything that other tests of this process had; memory that nobody touches.
  constexpr int64_t kValues = 20'000'000;
  const TensorMemory before = tensor_memory();
  at::Tensor kept;
  {
    const PhaseScope phase(MemoryPhase::forward);
    kept = at::empty({kValues});
    {
      const PhaseScope inner(MemoryPhase::backward);
      at::empty({2 * kValues});
    }
    EXPECT_EQ(of(tensor_memory().live_by_phase, MemoryPhase::forward) -
                  of(before.live_by_phase, MemoryPhase::forward),
              4 * kValues);
  }
  const TensorMemory after = tensor_memory();
  EXPECT_EQ(of(after.peak_by_phase, MemoryPhase::forward),
            of(before.live_by_phase, MemoryPhase::forward) + 4 * kValues);
  EXPECT_EQ(of(after.peak_by_phase, MemoryPhase::backward),
            of(before.live_by_phase, MemoryPhase::backward) + 8 * kValues);
  EXPECT_EQ(after.graph_peak_bytes, of(before.live_by_phase, MemoryPhase::forward) +
                                        of(before.live_by_phase, MemoryPhase::backward) +
                                        12 * kValues);
  // Freed outside of the phase: it is still that phase's memory that went.
  kept.reset();
  EXPECT_EQ(of(tensor_memory().live_by_phase, MemoryPhase::forward),
            of(before.live_by_phase, MemoryPhase::forward));
  begin_tracked_step();
  EXPECT_EQ(tensor_memory().step_peak_bytes, tensor_memory().live_bytes);
  at::empty({300});
  EXPECT_EQ(tensor_memory().step_peak_bytes, tensor_memory().live_bytes + 1200);
}

}  // namespace
}  // namespace plateau::train
