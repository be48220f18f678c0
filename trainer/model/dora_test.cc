// SPDX-License-Identifier: Apache-2.0
// DoRA and the training of whole towers, against models that are put together by hand.
#include <ATen/CPUGeneratorImpl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer/model/linear.h"
#include "trainer/model/testing/tiny_model.h"

namespace plateau::train {
namespace {

using testing::Not;
using testing::StartsWith;

constexpr std::string_view kPrefix = "base_model.model.";

ModelOptions dora_options(BaseStorage storage = BaseStorage::fp32) {
  ModelOptions options = options_of(Trained::adapters, storage);
  options.lora.dora = true;
  return options;
}

// Every B drawn, every length changed by up to a few tenths.
void fill_dora(QwenVl& model) {
  fill_adapters(model);
  const at::NoGradGuard without_graph;
  uint64_t seed = 77;
  for (const NamedTensor& parameter : model.trainable()) {
    if (!parameter.name.ends_with("lora_magnitude_vector")) continue;
    auto generator = at::detail::createCPUGenerator(seed++);
    parameter.tensor->mul_(at::empty_like(*parameter.tensor).uniform_(0.7, 1.3, generator));
  }
}

// Weights in which the adapters of `model` are merged; trainable() is A, B, lengths of each module.
Tensors merged_weights(QwenVl& model) {
  const at::NoGradGuard without_graph;
  Tensors weights = tiny_weights();
  const auto parameters = model.trainable();
  for (size_t i = 0; i + 2 < parameters.size(); i += 3) {
    const std::string& name = parameters[i].name;
    const std::string module = name.substr(kPrefix.size(), name.rfind(".lora_") - kPrefix.size());
    at::Tensor& weight = weights.at(module + ".weight");
    weight +=
        at::mm(*parameters[i + 1].tensor, *parameters[i].tensor) * model.options().lora.scaling();
    weight *= (*parameters[i + 2].tensor / weight.norm(2, {1})).unsqueeze(1);
  }
  return weights;
}

TEST(Dora, StartsAsTheModelItself) {
  for (const BaseStorage storage : {BaseStorage::fp32, BaseStorage::nf4}) {
    const Batch batch = stored_batch("images");
    const double expected = loss_of(*tiny_model(options_of(Trained::nothing, storage)), batch);
    EXPECT_NEAR(loss_of(*tiny_model(dora_options(storage)), batch), expected, 2e-6 * expected);
  }
}

TEST(Dora, MergedIntoTheWeightsGivesTheSame) {
  const auto adapted = tiny_model(dora_options());
  fill_dora(*adapted);
  const WeightDirectory merged(merged_weights(*adapted));
  const auto model = tiny_model(options_of(Trained::nothing), merged.path());
  for (const char* name : {"images", "text", "video"}) {
    const Batch batch = stored_batch(name);
    const double expected = loss_of(*model, batch);
    EXPECT_NEAR(loss_of(*adapted, batch), expected, 1e-5 * expected) << name;
  }
}

// y = (x W' + s x A' B') m / |W + s B A| with the length held fixed, by LibTorch's own gradients.
TEST(Dora, HasTheGradientsOfTheFormulaWithTheLengthHeldFixed) {
  Linear layer;
  const auto drawn = [](at::IntArrayRef shape, uint64_t seed) {
    auto generator = at::detail::createCPUGenerator(seed);
    return at::empty(shape, at::kFloat).normal_(0, 1, generator);
  };
  const at::Tensor weight = drawn({5, 7}, 1);
  layer.stored = StoredMatrix(weight);
  layer.bias = drawn({5}, 2);
  layer.lora_a = drawn({2, 7}, 3).set_requires_grad(true);
  layer.lora_b = drawn({5, 2}, 4).set_requires_grad(true);
  layer.magnitude = drawn({5}, 5).set_requires_grad(true);
  layer.scaling = 0.5;
  const at::Tensor x = drawn({11, 7}, 6).set_requires_grad(true);
  const at::Tensor wanted = drawn({11, 5}, 7);
  const std::vector<at::Tensor> inputs = {x, layer.lora_a, layer.lora_b, layer.magnitude};
  const auto gradients = [&](const at::Tensor& y) {
    torch::autograd::backward({(y * wanted).sum()}, {});
    std::vector<at::Tensor> out = {y.detach()};
    for (const at::Tensor& input : inputs) {
      out.push_back(input.grad().clone());
      input.mutable_grad() = at::Tensor();
    }
    return out;
  };
  const auto ours = gradients(layer.apply(x, true));
  const at::Tensor whole = weight + at::mm(layer.lora_b, layer.lora_a) * 0.5;
  const at::Tensor scale = layer.magnitude / whole.detach().norm(2, {1});
  const auto plain = gradients(at::mm(x, whole.t()) * scale + layer.bias);
  for (size_t i = 0; i < ours.size(); ++i) {
    EXPECT_TRUE(at::allclose(ours[i], plain[i], 1e-4, 1e-5)) << i;
  }
}

TEST(Dora, CheckpointingGivesGradientsEqualToTheBit) {
  ModelOptions options = dora_options(BaseStorage::nf4);
  const auto with = tiny_model(options);
  options.gradient_checkpointing = false;
  const auto without = tiny_model(options);
  fill_dora(*with);
  fill_dora(*without);
  const Tensors expected = gradients_of(*without, long_batch());
  for (const auto& [name, gradient] : gradients_of(*with, long_batch())) {
    EXPECT_TRUE(at::equal(gradient, expected.at(name))) << name;
  }
}

TEST(Dora, RefusesDropout) {
  ModelOptions options = dora_options();
  options.lora.dropout = 0.1;
  EXPECT_FALSE(QwenVl::load(tiny_config(), files_in(kTiny), options).ok());
}

TEST(WholeTowers, OneThatIsFrozenLeavesTheGradientsOfTheOther) {
  const Tensors all = gradients_of(*tiny_model(options_of(Trained::everything)), long_batch());
  ModelOptions options = options_of(Trained::everything);
  options.lora.vision = false;
  const auto language = tiny_model(options);
  EXPECT_GT(language->base_bytes(), 0);
  size_t count = 0;
  for (const auto& [name, gradient] : gradients_of(*language, long_batch())) {
    EXPECT_THAT(name, Not(StartsWith("visual.")));
    EXPECT_LE((gradient - all.at(name)).norm().item<double>(),
              1e-5 * all.at(name).norm().item<double>())
        << name;
    ++count;
  }
  options.lora.vision = true;
  options.lora.language = false;
  for (const auto& [name, gradient] : gradients_of(*tiny_model(options), long_batch())) {
    EXPECT_THAT(name, StartsWith("visual."));
    EXPECT_LE((gradient - all.at(name)).norm().item<double>(),
              1e-5 * all.at(name).norm().item<double>())
        << name;
    ++count;
  }
  EXPECT_EQ(count, all.size());
}

}  // namespace
}  // namespace plateau::train
