// SPDX-License-Identifier: Apache-2.0
// Runs a stored case, made by the Python model of the same weights, and says how far off we are.
//
// A case is a safetensors file: in/* are the inputs (input_ids, attention_mask, labels,
// pixel_values with image_grid_thw, pixel_values_videos with video_grid_thw and
// second_per_grid_ts), the rest what came out: position_ids, rope_deltas, act/*, logits, loss and
// g/*, the gradient of the mean loss by every weight, or
// by those of an adapter (g/base_model.model...).
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "trainer/model/qwen.h"

namespace plateau::train {

struct ReferenceReport {
  double loss = 0;
  double stored_loss = 0;
  // |ours - stored| / |stored| of the loss; the largest difference by the largest stored magnitude
  // of a tensor; the norm of the difference by the norm for gradients. Where the stored one is
  // zero, the difference itself. Positions that are padding are left out.
  double loss_error = 0;
  double position_error = 0;
  double activation_error = 0;
  double logit_error = 0;
  double gradient_error = 0;
  std::string worst_activation;
  std::string worst_gradient;
  size_t activations = 0;  // Compared.
  size_t gradients = 0;

  // Loss and logits within 1e-5, gradients within 1e-4, positions exact.
  [[nodiscard]] bool agrees() const;
};

// Gradients are compared for what the model trains: all weights, or its adapters under PEFT's
// names.
Result<ReferenceReport> check_reference(QwenVl& model, const std::filesystem::path& case_file);
// The model in a directory. `options.trained` and `options.storage` are ignored: all weights are
// trained, in fp32.
Result<ReferenceReport> check_reference(const std::filesystem::path& model_directory,
                                        const std::filesystem::path& case_file,
                                        ModelOptions options);
// One object, one line.
std::string reference_json(const ReferenceReport& report);

// The inputs of a case alone.
Result<Batch> read_reference_batch(const std::filesystem::path& case_file);

}  // namespace plateau::train
