// SPDX-License-Identifier: Apache-2.0
// Qwen2.5-VL on LibTorch: from weights on the disk to a loss with gradients.
//
// Computes in fp32; weights that are not trained are stored as chosen (fp32, bf16, NF4) and widened
// piece by piece where a product needs them. Attention never stores a score matrix of the whole
// sequence. The head is applied at labelled positions only, chunk by chunk. With gradient
// checkpointing a layer keeps its input and is run again on the way back; gradients are the same to
// the bit. Not thread-safe: one model, one thread (LibTorch's own threads aside).
//
// Padding is cut out before anything is computed. What forward() keeps for the way back, in values
// of 4 bytes for each token of text and layer, with adapters of rank r everywhere, k the size of
// all key heads, a the attention heads:
//
//   without checkpointing  4 hidden + 2 k + 2 intermediate + a + 2 + 7 r
//   with                   hidden; and once the line above while a layer is run again
//
// and for each patch and block of the vision tower 6 hidden + 2 intermediate + a + 2 + 5 r, or
// hidden, or nothing if it has no adapters. Without checkpointing the first layer and the first
// block keep 1 less if nothing below them is trained. Besides: 2 hidden + 1 for each
// labelled token, one head for each token and patch (rotations); if the tower has adapters, 2
// hidden + 1 for each patch (the merger) and hidden for each token of a picture. A product with
// bf16 or NF4 weights needs 16 MiB more while it runs; attention two strips of max(1 Mi, chunk x
// sequence x heads / key heads) values, one on the way forward; the loss one chunk of logits. Bytes
// of tensors, which tests hold to this.
//
// This header includes no torch header, so that the rest of the trainer compiles quickly; tensors
// are behind `Tensor`, which model/tensor.h completes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "trainer/data/loader.h"
#include "trainer/model/learner.h"
#include "trainer/store/model_config.h"
#include "trainer/store/model_options.h"
#include "trainer/store/safetensors.h"

namespace plateau::train {

// Positions of all tokens on the three axes (time, height, width): 3 x rows x columns. Padding
// is 1.
std::vector<int64_t> rope_positions(const ModelConfig& config, const Batch& batch);

class QwenVl final : public Learner {
 public:
  // Weights are read through the mapping and not copied where they are used as they are; NF4 files
  // of bitsandbytes are read too. With `trained` adapters these are fresh (A random, the same for a
  // module whatever else is adapted; B zero): a checkpoint is put into trainable() by its names.
  // Graphs of forward() must not outlive the model.
  static Result<std::unique_ptr<QwenVl>> load(const ModelConfig& config,
                                              std::shared_ptr<const WeightFiles> files,
                                              const ModelOptions& options);
  ~QwenVl() override;

  Result<LossSum> forward(const Batch& batch) override;
  Result<LossSum> evaluate(const Batch& batch) override;
  std::vector<NamedTensor> trainable() override;

  // Hidden states named as in the reference cases, and logits at all positions: small inputs only.
  struct Inspection {
    std::map<std::string, Tensor> activations;
    Tensor logits;
    LossSum loss;
  };
  Result<Inspection> inspect(const Batch& batch);

  // Greedy continuation of row 0 until `stop` or `limit` tokens; for showing what was learned.
  Result<std::vector<int64_t>> generate(const Batch& prompt, int64_t limit,
                                        std::span<const int64_t> stop);

  [[nodiscard]] const ModelConfig& config() const;
  [[nodiscard]] const ModelOptions& options() const;
  // Bytes of weights that are not trained, as stored.
  [[nodiscard]] int64_t base_bytes() const;

 private:
  struct State;
  explicit QwenVl(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace plateau::train
