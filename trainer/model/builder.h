// SPDX-License-Identifier: Apache-2.0
// Turns the files of a model into its layers: what is frozen as it is to be stored, what is trained
// as fp32 tensors of its own, adapters beside the linear layers that were chosen.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "trainer/model/learner.h"
#include "trainer/model/linear.h"
#include "trainer/model/qwen.h"

namespace plateau::train {

// Where a layer is: the four kinds differ in what NF4 storage does to them.
enum class Place : uint8_t {
  block,  // Linear layers of the two towers: NF4 if that is the storage.
  other,  // Merger, embedding and head: bf16 then.
};

// Requires: check_weights() has passed. Throws c10::Error and std::bad_alloc only.
class Builder {
 public:
  Builder(const ModelConfig& config, std::shared_ptr<const WeightFiles> files,
          const ModelOptions& options, at::Device device);

  // A bias, the weight of a norm: fp32 whatever the storage.
  at::Tensor vector(const std::string& name);
  // `module` without ".weight"; more than two dimensions are seen as rows x the rest.
  Linear linear(const std::string& module, bool has_bias, Place place);

  [[nodiscard]] const ModelOptions& options() const { return options_; }
  [[nodiscard]] at::Device device() const { return device_; }
  // What is computed in.
  [[nodiscard]] at::ScalarType type() const {
    return options_.compute == ComputeType::bf16 ? at::kBFloat16 : at::kFloat;
  }
  [[nodiscard]] const std::vector<NamedTensor>& trainable() const { return trainable_; }
  [[nodiscard]] int64_t base_bytes() const { return base_bytes_; }

 private:
  [[nodiscard]] at::Tensor mapped(const TensorView& view) const;
  [[nodiscard]] StoredMatrix packed(const TensorView& view) const;
  at::Tensor trained(const std::string& name);
  StoredMatrix stored(const std::string& name, Place place);
  void add_adapter(Linear& layer, const std::string& module, int64_t rows, int64_t columns);

  std::shared_ptr<const WeightFiles> files_;
  ModelOptions options_;
  at::Device device_;
  std::set<std::string> adapted_;
  std::vector<NamedTensor> trainable_;
  int64_t base_bytes_ = 0;
};

}  // namespace plateau::train
