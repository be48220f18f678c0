// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/qwen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "trainer/model/testing/tiny_model.h"
#include "trainer/quant/nf4.h"

namespace plateau::train {
namespace {

using testing::HasSubstr;

// "a.b" of "base_model.model.a.b.lora_A.weight".
std::string module_of(const std::string& name) {
  const size_t prefix = std::string("base_model.model.").size();
  return name.substr(prefix, name.rfind(".lora_") - prefix);
}

// What the adapter whose A is parameter `i` adds to its weight.
at::Tensor merged_part(const std::vector<NamedTensor>& parameters, size_t i,
                       const ModelOptions& options) {
  return at::mm(parameters[i + 1].tensor->detach(), parameters[i].tensor->detach()) *
         options.lora.scaling();
}

TEST(Adapters, ThatAreFreshChangeNothing) {
  const Batch batch = stored_batch("images");
  const double base = loss_of(*tiny_model(options_of(Trained::nothing)), batch);
  const auto adapted = tiny_model(options_of(Trained::adapters));
  EXPECT_EQ(loss_of(*adapted, batch), base);
  fill_adapters(*adapted);
  EXPECT_NE(loss_of(*adapted, batch), base);
}

TEST(Adapters, StartTheSameWhateverElseIsAdapted) {
  ModelOptions language_only = options_of(Trained::adapters);
  language_only.lora.vision = false;
  Tensors all;
  for (const NamedTensor& parameter : tiny_model(options_of(Trained::adapters))->trainable()) {
    all[parameter.name] = *parameter.tensor;
  }
  const auto some = tiny_model(language_only)->trainable();
  EXPECT_EQ(all.size(), 2U * (2 * 5 + 2 * 7));
  EXPECT_EQ(some.size(), 2U * 2 * 7);
  for (const NamedTensor& parameter : some) {
    EXPECT_TRUE(at::equal(*parameter.tensor, all.at(parameter.name))) << parameter.name;
  }
  const at::Tensor& a = all.at("base_model.model.model.layers.0.mlp.down_proj.lora_A.weight");
  EXPECT_LE(a.abs().max().item<double>(), 1 / std::sqrt(128.0));
  EXPECT_GT(a.std().item<double>(), 0.4 / std::sqrt(128.0));
}

TEST(Adapters, MergedIntoTheWeightsGiveTheSame) {
  ModelOptions options = options_of(Trained::adapters);
  options.lora.rslora = true;
  const auto adapted = tiny_model(options);
  fill_adapters(*adapted);
  Tensors weights = tiny_weights();
  const auto parameters = adapted->trainable();
  for (size_t i = 0; i + 1 < parameters.size(); i += 2) {
    weights.at(module_of(parameters[i].name) + ".weight") += merged_part(parameters, i, options);
  }
  const WeightDirectory merged(weights);
  const auto model = tiny_model(options_of(Trained::nothing), merged.path());
  for (const char* name : {"images", "text", "video"}) {
    const Batch batch = stored_batch(name);
    const double expected = loss_of(*model, batch);
    EXPECT_NEAR(loss_of(*adapted, batch), expected, 1e-5 * expected) << name;
  }
}

// With W = base + s B A: the gradient by B is s (dW A'), that by A is s (B' dW).
TEST(Adapters, HaveTheGradientsThatFollowFromThoseOfTheWeights) {
  const ModelOptions options = options_of(Trained::adapters);
  const auto adapted = tiny_model(options);
  fill_adapters(*adapted);
  Tensors weights = tiny_weights();
  const auto parameters = adapted->trainable();
  std::vector<std::string> modules;
  for (size_t i = 0; i + 1 < parameters.size(); i += 2) {
    modules.push_back(module_of(parameters[i].name));
    weights.at(modules.back() + ".weight") += merged_part(parameters, i, options);
  }
  const WeightDirectory directory(weights);
  const auto whole = tiny_model(options_of(Trained::everything), directory.path());
  const Batch batch = stored_batch("images");
  const Tensors ours = gradients_of(*adapted, batch);
  const Tensors theirs = gradients_of(*whole, batch);
  for (size_t i = 0; i < modules.size(); ++i) {
    const at::Tensor grad = theirs.at(modules[i] + ".weight") * options.lora.scaling();
    const NamedTensor& a = parameters[2 * i];
    const NamedTensor& b = parameters[2 * i + 1];
    const at::Tensor grad_a = at::mm(b.tensor->detach().t(), grad);
    const at::Tensor grad_b = at::mm(grad, a.tensor->detach().t());
    EXPECT_LE((ours.at(a.name) - grad_a).norm().item<double>(), 1e-4 * grad_a.norm().item<double>())
        << a.name;
    EXPECT_LE((ours.at(b.name) - grad_b).norm().item<double>(), 1e-4 * grad_b.norm().item<double>())
        << b.name;
  }
}

// The weights as `storage` keeps them, in fp32.
Tensors rounded_weights(BaseStorage storage) {
  Tensors weights = tiny_weights();
  const std::vector<LinearShape> blocks = linear_layers(tiny_config());
  for (auto& [name, tensor] : weights) {
    const std::string module = name.substr(0, name.rfind('.'));
    const bool is_block = std::any_of(blocks.begin(), blocks.end(), [&](const LinearShape& layer) {
      return layer.module == module;
    });
    if (tensor.dim() < 2) {
      continue;
    }
    if (storage == BaseStorage::nf4 && is_block) {
      const auto values = std::span(tensor.data_ptr<float>(), static_cast<size_t>(tensor.numel()));
      dequantise_nf4(quantise_nf4(values, tensor.sizes().vec(), true), values);
    } else {
      tensor = tensor.to(at::kBFloat16).to(at::kFloat);
    }
  }
  return weights;
}

class Storages : public testing::TestWithParam<BaseStorage> {};

TEST_P(Storages, ComputeWithTheWeightsThatTheyKeep) {
  const WeightDirectory directory(rounded_weights(GetParam()));
  const auto ours = tiny_model(options_of(Trained::adapters, GetParam()));
  const auto plain = tiny_model(options_of(Trained::adapters), directory.path());
  fill_adapters(*ours);
  fill_adapters(*plain);
  EXPECT_LT(ours->base_bytes(), plain->base_bytes() * 6 / 10);
  for (const char* name : {"images", "text"}) {
    const Batch batch = stored_batch(name);
    const double expected = loss_of(*plain, batch);
    EXPECT_NEAR(loss_of(*ours, batch), expected, 1e-6 * expected) << name;
    EXPECT_NE(loss_of(*tiny_model(options_of(Trained::nothing)), batch), expected);
  }
  const Batch batch = stored_batch("images");
  const Tensors theirs = gradients_of(*plain, batch);
  for (const auto& [name, grad] : gradients_of(*ours, batch)) {
    EXPECT_LE((grad - theirs.at(name)).norm().item<double>(),
              1e-5 * theirs.at(name).norm().item<double>())
        << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Storages, testing::Values(BaseStorage::bf16, BaseStorage::nf4),
                         [](const auto& tested) {
                           return tested.param == BaseStorage::bf16 ? "bf16" : "nf4";
                         });

TEST(Vision, PatchesOfOneFrameEqualThoseOfTheFrameTwice) {
  const Batch one = long_batch();
  Batch two = one;
  two.patch_values = 96;
  two.patches.clear();
  Batch varied = one;
  for (size_t i = 0; i < varied.patches.size(); ++i) {
    varied.patches[i] = static_cast<float>(i % 37) / 37.0F - 0.4F;
  }
  for (size_t first = 0; first < varied.patches.size(); first += 16) {  // A channel of a patch.
    for (int frame = 0; frame < 2; ++frame) {
      two.patches.insert(two.patches.end(),
                         varied.patches.begin() + static_cast<std::ptrdiff_t>(first),
                         varied.patches.begin() + static_cast<std::ptrdiff_t>(first) + 16);
    }
  }
  for (const Trained trained : {Trained::nothing, Trained::everything}) {
    const auto model = tiny_model(options_of(trained));
    EXPECT_NEAR(loss_of(*model, varied), loss_of(*model, two), 1e-4);
    EXPECT_GT(std::abs(loss_of(*model, varied) - loss_of(*model, one)), 1e-3);
  }
  const auto trained = tiny_model(options_of(Trained::everything));
  const Tensors still = gradients_of(*trained, varied);
  for (const auto& [name, grad] : gradients_of(*trained, two)) {
    EXPECT_LE((grad - still.at(name)).norm().item<double>(), 1e-4 * grad.norm().item<double>())
        << name;
  }
}

Batch row_of(const Batch& batch, int64_t row, size_t first_grid, size_t last_grid) {
  Batch out;
  out.rows = 1;
  out.patch_values = batch.patch_values;
  for (int64_t column = 0; column < batch.columns; ++column) {
    const auto place = static_cast<size_t>(row * batch.columns + column);
    if (batch.mask[place] != 0) {
      out.ids.push_back(batch.ids[place]);
      out.labels.push_back(batch.labels[place]);
      out.mask.push_back(1);
    }
  }
  out.columns = static_cast<int64_t>(out.ids.size());
  std::ptrdiff_t at = 0;
  for (size_t i = 0; i < last_grid; ++i) {
    const std::ptrdiff_t values = batch.grids[i].patches() * batch.patch_values;
    if (i >= first_grid) {
      out.grids.push_back(batch.grids[i]);
      out.patches.insert(out.patches.end(), batch.patches.begin() + at,
                         batch.patches.begin() + at + values);
    }
    at += values;
  }
  return out;
}

TEST(Batches, OfPaddedRowsEqualTheRowsAlone) {
  const auto model = tiny_model(options_of(Trained::everything));
  const Batch both = stored_batch("images");
  const Batch first = row_of(both, 0, 0, 1);
  const Batch second = row_of(both, 1, 1, 3);
  const double together = loss_of(*model, both);
  EXPECT_NEAR(together, loss_of(*model, first) + loss_of(*model, second), 1e-6 * together);
  const Tensors a = gradients_of(*model, first);
  const Tensors b = gradients_of(*model, second);
  for (const auto& [name, grad] : gradients_of(*model, both)) {
    EXPECT_LE((grad - a.at(name) - b.at(name)).norm().item<double>(),
              1e-5 * grad.norm().item<double>())
        << name;
  }
}

// One row of these, one after the other.
Batch packed_row(const std::vector<Batch>& examples) {
  Batch out = examples.front();
  for (size_t i = 1; i < examples.size(); ++i) {
    const Batch& next = examples[i];
    out.starts.push_back(static_cast<int64_t>(out.ids.size()));
    out.ids.insert(out.ids.end(), next.ids.begin(), next.ids.end());
    out.labels.insert(out.labels.end(), next.labels.begin(), next.labels.end());
    out.mask.insert(out.mask.end(), next.mask.begin(), next.mask.end());
    out.grids.insert(out.grids.end(), next.grids.begin(), next.grids.end());
    out.patches.insert(out.patches.end(), next.patches.begin(), next.patches.end());
  }
  out.columns = static_cast<int64_t>(out.ids.size());
  return out;
}

std::vector<Batch> examples_to_pack() {
  const Batch both = stored_batch("images");
  std::vector<Batch> out = {row_of(both, 0, 0, 1), row_of(both, 1, 1, 3), row_of(both, 0, 0, 1)};
  out.back().ids[1] = out.back().ids[1] == 5 ? 6 : 5;
  // First tokens that are labelled: nothing may predict them.
  for (Batch& one : out) one.labels.front() = one.ids.front();
  return out;
}

TEST(PackedRows, HaveTheLossAndTheGradientsOfTheirExamplesTogether) {
  for (const Trained trained : {Trained::adapters, Trained::everything}) {
    const auto model = tiny_model(options_of(trained));
    if (trained == Trained::adapters) fill_adapters(*model);
    double alone = 0;
    Tensors sums;
    for (const Batch& one : examples_to_pack()) {
      alone += loss_of(*model, one);
      for (const auto& [name, grad] : gradients_of(*model, one)) {
        sums[name] = sums[name].defined() ? sums[name] + grad : grad;
      }
    }
    const Batch row = packed_row(examples_to_pack());
    EXPECT_NEAR(loss_of(*model, row), alone, 1e-5 * alone);
    const Tensors together = gradients_of(*model, row);
    EXPECT_EQ(together.size(), sums.size());
    for (const auto& [name, grad] : together) {
      EXPECT_LE((grad - sums.at(name)).norm().item<double>(), 1e-5 * grad.norm().item<double>())
          << name;
    }
  }
}

TEST(PackedRows, SeeNothingOfEachOther) {
  const auto model = tiny_model(options_of(Trained::nothing));
  std::vector<Batch> examples = examples_to_pack();
  // Only the second example is learned; the others are changed.
  for (const size_t other : {0, 2}) {
    std::ranges::fill(examples[other].labels, kNoLabel);
  }
  const double before = loss_of(*model, packed_row(examples));
  for (const size_t other : {0, 2}) {
    examples[other].ids.back() = examples[other].ids.back() == 7 ? 8 : 7;
    for (float& value : examples[other].patches) value = 0.25F - value;
  }
  EXPECT_EQ(loss_of(*model, packed_row(examples)), before);
  // Were they one example, it would show.
  Batch one = packed_row(examples);
  one.starts.clear();
  EXPECT_GT(std::abs(loss_of(*model, one) - before), 1e-3);
}

TEST(Batches, ThatDoNotFitAreErrors) {
  const auto model = tiny_model(options_of(Trained::adapters));
  Batch missing = stored_batch("images");
  missing.grids.pop_back();
  EXPECT_FALSE(model->forward(missing).ok());
  Batch cut = stored_batch("images");
  cut.ids[10] = 3;
  EXPECT_FALSE(model->evaluate(cut).ok());
  Batch large = stored_batch("text");
  large.ids[2] = 256;
  const auto loss = model->forward(large);
  ASSERT_FALSE(loss.ok());
  EXPECT_THAT(loss.error().message, HasSubstr("256"));
  EXPECT_FALSE(model->inspect(large).ok());
  EXPECT_FALSE(model->generate(large, 1, {}).ok());
}

TEST(Batches, WithoutLabelsHaveALossOfZeroThatCanBeDerived) {
  const auto model = tiny_model(options_of(Trained::adapters));
  Batch batch = stored_batch("text");
  batch.labels.assign(batch.labels.size(), kNoLabel);
  auto loss = model->forward(batch);
  ASSERT_TRUE(loss.ok());
  EXPECT_EQ(loss.value().labelled, 0);
  EXPECT_EQ(loss.value().sum->item<double>(), 0);
  torch::autograd::backward({*loss.value().sum}, {});
}

TEST(Load, RefusesOptionsThatCannotBe) {
  ModelOptions options = options_of(Trained::everything, BaseStorage::nf4);
  EXPECT_FALSE(QwenVl::load(tiny_config(), files_in(kTiny), options).ok());
  options = options_of(Trained::adapters);
  options.lora.rank = 0;
  EXPECT_FALSE(QwenVl::load(tiny_config(), files_in(kTiny), options).ok());
  ModelConfig other = tiny_config();
  other.layers = 3;
  EXPECT_FALSE(QwenVl::load(other, files_in(kTiny), ModelOptions{}).ok());
}

TEST(Load, UsesFp32WeightsWhereTheyAreMapped) {
  const auto bytes = std::make_shared<LiveBytes>();
  const auto files = files_in(kTiny);
  const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, bytes);
  auto model = QwenVl::load(tiny_config(), files, options_of(Trained::nothing));
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model.value()->base_bytes(), 152992 * 4);
  // The kernel of still pictures is all that was allocated, whole (it is a sum of two).
  EXPECT_LE(bytes->live, 16 * 1024);
}

TEST(Load, TiedHeadsUseTheEmbedding) {
  ModelConfig config = tiny_config();
  config.tie_word_embeddings = true;
  Tensors weights = tiny_weights();
  weights.erase("lm_head.weight");
  const WeightDirectory directory(weights);
  const Batch batch = stored_batch("text");
  auto model = QwenVl::load(config, files_in(directory.path()), options_of(Trained::everything));
  ASSERT_TRUE(model.ok()) << model.error().message;
  weights["lm_head.weight"] = weights.at("model.embed_tokens.weight");
  const WeightDirectory untied_directory(weights);
  const auto untied = tiny_model(options_of(Trained::everything), untied_directory.path());
  EXPECT_EQ(loss_of(*model.value(), batch), loss_of(*untied, batch));
  const Tensors apart = gradients_of(*untied, batch);
  const Tensors tied = gradients_of(*model.value(), batch);
  EXPECT_FALSE(tied.contains("lm_head.weight"));
  EXPECT_TRUE(at::allclose(tied.at("model.embed_tokens.weight"),
                           apart.at("model.embed_tokens.weight") + apart.at("lm_head.weight"), 1e-4,
                           1e-6));
}

TEST(Generate, WithItsCacheEqualsTheModelRunAnewForEachToken) {
  const auto model = tiny_model(options_of(Trained::nothing));
  for (const char* name : {"images", "video"}) {
    Batch batch = row_of(stored_batch(name), 0, 0, 1);
    batch.seconds_per_grid = stored_batch(name).seconds_per_grid;
    const auto generated = model->generate(batch, 5, {});
    ASSERT_TRUE(generated.ok()) << generated.error().message;
    std::vector<int64_t> anew;
    for (int i = 0; i < 5; ++i) {
      const at::Tensor logits = *model->inspect(batch).value().logits;
      const auto id = logits[0][batch.columns - 1].argmax().item<int64_t>();
      anew.push_back(id);
      batch.ids.push_back(id);
      batch.mask.push_back(1);
      batch.labels.push_back(kNoLabel);
      ++batch.columns;
    }
    EXPECT_EQ(generated.value(), anew) << name;
    const auto stopped = model->generate(row_of(stored_batch(name), 0, 0, 1), 5,
                                         std::vector<int64_t>{generated.value()[0]});
    EXPECT_EQ(stopped.value().size(), 1U);
  }
}

TEST(Generate, ContinuesTheFirstRowOfSeveral) {
  const auto model = tiny_model(options_of(Trained::nothing));
  const Batch both = stored_batch("images");
  EXPECT_EQ(model->generate(both, 4, {}).value(),
            model->generate(row_of(both, 0, 0, 1), 4, {}).value());
}

}  // namespace
}  // namespace plateau::train
