// SPDX-License-Identifier: Apache-2.0
// The tiny model of testdata, as tests want it: loaded in any way, with other weights, asked for
// losses and gradients, and watched for the bytes it keeps.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/testing/scratch_directory.h"
#include "trainer/model/qwen.h"
#include "trainer/model/reference_check.h"
#include "trainer/model/tensor.h"
#include "trainer/store/weight_names.h"

namespace plateau::train {

using Tensors = std::map<std::string, at::Tensor>;

inline const std::filesystem::path kTiny =
    std::filesystem::path(PLATEAU_SOURCE_DIR) / "trainer/testdata/qwen25vl-tiny";

inline ModelConfig tiny_config() {
  return read_model_config(kTiny).value();
}

inline std::shared_ptr<const WeightFiles> files_in(const std::filesystem::path& directory) {
  return std::make_shared<WeightFiles>(std::move(WeightFiles::open(directory).value()));
}

inline std::unique_ptr<QwenVl> tiny_model(const ModelOptions& options,
                                          const std::filesystem::path& directory = kTiny) {
  auto model = QwenVl::load(tiny_config(), files_in(directory), options);
  EXPECT_TRUE(model.ok()) << model.error().message;
  return std::move(model.value());
}

inline Batch stored_batch(const char* name) {
  return read_reference_batch(kTiny / (std::string(name) + ".safetensors")).value();
}

inline Tensors tiny_weights() {
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
  explicit WeightDirectory(const Tensors& weights) {
    std::vector<TensorView> views;
    std::vector<at::Tensor> kept;
    for (const auto& [name, tensor] : weights) {
      kept.push_back(tensor.contiguous());
      const auto* bytes = static_cast<const std::byte*>(kept.back().data_ptr());
      views.push_back({name, DType::f32, tensor.sizes().vec(),
                       std::span(bytes, static_cast<size_t>(tensor.numel()) * 4)});
    }
    EXPECT_TRUE(write_safetensors(path() / "model.safetensors", views, {}).ok());
  }
  [[nodiscard]] const std::filesystem::path& path() const { return scratch_.path(); }

 private:
  ScratchDirectory scratch_;
};

inline double loss_of(QwenVl& model, const Batch& batch) {
  auto loss = model.evaluate(batch);
  EXPECT_TRUE(loss.ok()) << loss.error().message;
  EXPECT_FALSE(loss.value().sum->requires_grad());
  return loss.value().sum->item<double>();
}

inline Tensors gradients_of(QwenVl& model, const Batch& batch) {
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
inline void fill_adapters(QwenVl& model) {
  const at::NoGradGuard without_graph;
  uint64_t seed = 5;
  for (const NamedTensor& parameter : model.trainable()) {
    auto generator = at::detail::createCPUGenerator(seed++);
    if (parameter.name.ends_with("lora_B.weight")) {
      parameter.tensor->normal_(0, 0.05, generator);
    }
  }
}

inline ModelOptions options_of(Trained trained, BaseStorage storage = BaseStorage::fp32) {
  ModelOptions options;
  options.trained = trained;
  options.storage = storage;
  options.lora.rank = 4;
  options.lora.alpha = 8;
  return options;
}

// One long row of text after a picture.
inline Batch long_batch() {
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

// Counts bytes of tensors that live, on this thread.
class LiveBytes : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void* /*ptr*/, int64_t size, size_t /*allocated*/, size_t /*reserved*/,
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

inline Footprint footprint_of(QwenVl& model, const Batch& batch) {
  const auto bytes = std::make_shared<LiveBytes>();
  const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, bytes);
  Footprint out;
  auto loss = model.forward(batch);
  EXPECT_TRUE(loss.ok());
  out.kept = bytes->live;
  torch::autograd::backward({*loss.value().sum}, {});
  out.peak = bytes->peak;
  for (const NamedTensor& parameter : model.trainable()) {
    if (parameter.tensor->grad().defined()) {
      out.gradients[parameter.name] = parameter.tensor->grad().clone();
    }
    parameter.tensor->mutable_grad() = at::Tensor();
  }
  return out;
}

}  // namespace plateau::train
