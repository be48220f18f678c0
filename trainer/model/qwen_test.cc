// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/qwen.h"

#include <ATen/CPUGeneratorImpl.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "trainer/model/reference_check.h"
#include "trainer/model/tensor.h"
#include "trainer/quant/nf4.h"
#include "trainer/store/weight_names.h"

namespace plateau::train {
namespace {

using testing::HasSubstr;
using Tensors = std::map<std::string, at::Tensor>;

const std::filesystem::path kTiny =
    std::filesystem::path(PLATEAU_SOURCE_DIR) / "trainer/testdata/qwen25vl-tiny";

ModelConfig tiny_config() {
  return read_model_config(kTiny).value();
}

std::shared_ptr<const WeightFiles> files_in(const std::filesystem::path& directory) {
  return std::make_shared<WeightFiles>(std::move(WeightFiles::open(directory).value()));
}

std::unique_ptr<QwenVl> tiny_model(const ModelOptions& options,
                                   const std::filesystem::path& directory = kTiny) {
  auto model = QwenVl::load(tiny_config(), files_in(directory), options);
  EXPECT_TRUE(model.ok()) << model.error().message;
  return std::move(model.value());
}

Batch stored_batch(const char* name) {
  return read_reference_batch(kTiny / (std::string(name) + ".safetensors")).value();
}

Tensors tiny_weights() {
  Tensors weights;
  const auto files = files_in(kTiny);
  for (const TensorView* view : files->tensors()) {
    at::Tensor own = at::empty(view->shape, at::kFloat);
    std::memcpy(own.data_ptr(), view->bytes.data(), view->bytes.size());
    weights[hub_name(view->name)] = own;
  }
  return weights;
}

// A directory with these weights, removed at the end.
class WeightDirectory {
 public:
  explicit WeightDirectory(const Tensors& weights)
      : path_(std::filesystem::temp_directory_path() /
              ("plateau-model-" + std::to_string(::getpid()) + "-" + std::to_string(made_++))) {
    std::filesystem::create_directories(path_);
    std::vector<TensorView> views;
    std::vector<at::Tensor> kept;
    for (const auto& [name, tensor] : weights) {
      kept.push_back(tensor.contiguous());
      const auto* bytes = static_cast<const std::byte*>(kept.back().data_ptr());
      views.push_back({name, DType::f32, tensor.sizes().vec(),
                       std::span(bytes, static_cast<size_t>(tensor.numel()) * 4)});
    }
    EXPECT_TRUE(write_safetensors(path_ / "model.safetensors", views, {}).ok());
  }
  ~WeightDirectory() { std::filesystem::remove_all(path_); }
  WeightDirectory(const WeightDirectory&) = delete;
  WeightDirectory& operator=(const WeightDirectory&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  static inline int made_ = 0;
  std::filesystem::path path_;
};

double loss_of(QwenVl& model, const Batch& batch) {
  auto loss = model.evaluate(batch);
  EXPECT_TRUE(loss.ok()) << loss.error().message;
  EXPECT_FALSE(loss.value().sum->requires_grad());
  return loss.value().sum->item<double>();
}

Tensors gradients_of(QwenVl& model, const Batch& batch) {
  auto loss = model.forward(batch);
  EXPECT_TRUE(loss.ok()) << loss.error().message;
  torch::autograd::backward({*loss.value().sum}, {});
  Tensors out;
  for (const NamedTensor& parameter : model.trainable()) {
    at::Tensor& grad = parameter.tensor->mutable_grad();
    if (grad.defined()) {  // Vision weights have none if there is no picture.
      out[parameter.name] = grad;
    }
    grad = at::Tensor();
  }
  return out;
}

// Fills the B of all adapters, which start as zeros.
void fill_adapters(QwenVl& model) {
  const at::NoGradGuard without_graph;
  uint64_t seed = 5;
  for (const NamedTensor& parameter : model.trainable()) {
    auto generator = at::detail::createCPUGenerator(seed++);
    if (parameter.name.ends_with("lora_B.weight")) {
      parameter.tensor->normal_(0, 0.05, generator);
    }
  }
}

ModelOptions options_of(Trained trained, BaseStorage storage = BaseStorage::fp32) {
  ModelOptions options;
  options.trained = trained;
  options.storage = storage;
  options.lora.rank = 4;
  options.lora.alpha = 8;
  return options;
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
    std::string module = parameters[i].name.substr(std::string("base_model.model.").size());
    module.resize(module.size() - std::string(".lora_A.weight").size());
    weights.at(module + ".weight") +=
        at::mm(parameters[i + 1].tensor->detach(), parameters[i].tensor->detach()) *
        options.lora.scaling();
  }
  const WeightDirectory merged(weights);
  const auto model = tiny_model(options_of(Trained::nothing), merged.path());
  for (const char* name : {"images", "text", "video"}) {
    const Batch batch = stored_batch(name);
    const double expected = loss_of(*model, batch);
    EXPECT_NEAR(loss_of(*adapted, batch), expected, 1e-5 * expected) << name;
  }
}

// The weights as `storage` keeps them, in fp32.
Tensors rounded_weights(BaseStorage storage) {
  Tensors weights = tiny_weights();
  const std::vector<std::string> blocks = lora_modules(tiny_config(), LoraOptions{});
  for (auto& [name, tensor] : weights) {
    const bool is_block =
        std::find(blocks.begin(), blocks.end(), name.substr(0, name.rfind('.'))) != blocks.end();
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

// Counts bytes of tensors that live, on this thread.
class LiveBytes : public c10::MemoryReportingInfoBase {
 public:
#if TORCH_VERSION_MAJOR >= 2
  using Size = size_t;
#else
  using Size = int64_t;
#endif
  void reportMemoryUsage(void* /*ptr*/, int64_t size, Size /*allocated*/, Size /*reserved*/,
                         c10::Device /*device*/) override {
    live += size;
    peak = std::max(peak, live);
  }
  [[nodiscard]] bool memoryProfilingEnabled() const override { return true; }
  int64_t live = 0;
  int64_t peak = 0;
};

struct Footprint {
  int64_t kept = 0;  // By the graph, after the way forward.
  int64_t peak = 0;
  Tensors gradients;
};

Footprint footprint_of(QwenVl& model, const Batch& batch) {
  const auto bytes = std::make_shared<LiveBytes>();
  const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, bytes);
  Footprint out;
  auto loss = model.forward(batch);
  EXPECT_TRUE(loss.ok());
  out.kept = bytes->live;
  torch::autograd::backward({*loss.value().sum}, {});
  out.peak = bytes->peak;
  for (const NamedTensor& parameter : model.trainable()) {
    out.gradients[parameter.name] = parameter.tensor->grad().clone();
    parameter.tensor->mutable_grad() = at::Tensor();
  }
  return out;
}

// One long row of text after a picture.
Batch long_batch() {
  Batch batch;
  batch.rows = 1;
  batch.grids = {{1, 16, 16}};
  batch.patch_values = 48;
  batch.patches.assign(256 * 48, 0.5F);
  batch.ids.assign(64, 202);
  for (int64_t i = 0; i < 200; ++i) {
    batch.ids.push_back(i % 190);
  }
  batch.columns = static_cast<int64_t>(batch.ids.size());
  batch.mask.assign(batch.ids.size(), 1);
  batch.labels.assign(batch.ids.size(), kNoLabel);
  for (size_t i = 250; i < batch.ids.size(); ++i) {
    batch.labels[i] = batch.ids[i];
  }
  return batch;
}

TEST(Checkpointing, GivesGradientsEqualToTheBitAndKeepsLess) {
  for (const double dropout : {0.0, 0.3}) {
    ModelOptions options = options_of(Trained::adapters);
    options.lora.dropout = dropout;
    options.gradient_checkpointing = false;
    const auto plain = tiny_model(options);
    options.gradient_checkpointing = true;
    const auto checkpointed = tiny_model(options);
    fill_adapters(*plain);
    fill_adapters(*checkpointed);
    const Batch batch = long_batch();
    at::manual_seed(3);
    const Footprint without = footprint_of(*plain, batch);
    at::manual_seed(3);
    const Footprint with = footprint_of(*checkpointed, batch);
    EXPECT_LT(with.kept, without.kept / 3);
    EXPECT_LT(with.peak, without.peak);
    for (const auto& [name, grad] : without.gradients) {
      EXPECT_TRUE(at::equal(grad, with.gradients.at(name))) << name << " " << dropout;
      EXPECT_GT(grad.norm().item<double>(), 0) << name;
    }
  }
}

TEST(Vision, FrozenKeepsNothingAndLeavesOtherGradientsAsTheyAre) {
  ModelOptions options = options_of(Trained::adapters);
  options.gradient_checkpointing = false;
  const auto all = tiny_model(options);
  options.lora.vision = false;
  const auto frozen = tiny_model(options);
  const Batch batch = long_batch();
  const Footprint with_vision = footprint_of(*all, batch);
  const Footprint without = footprint_of(*frozen, batch);
  EXPECT_LT(without.kept, with_vision.kept);
  for (const auto& [name, grad] : without.gradients) {
    EXPECT_TRUE(at::equal(grad, with_vision.gradients.at(name))) << name;
    EXPECT_THAT(name, HasSubstr("model.layers."));
  }
}

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
