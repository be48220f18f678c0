// SPDX-License-Identifier: Apache-2.0
// LoRA adapters on the disk, in PEFT's format: adapter_model.safetensors and adapter_config.json.
//
// The format has two layouts, because transformers 4.52 renamed the modules of the model: "legacy"
// has base_model.model.model.layers..., base_model.model.visual...; "hf452" has
// base_model.model.model.language_model.layers..., base_model.model.model.visual.... Loaders in
// Python ignore names that they do not know, and the adapter then does nothing: they look for the
// tensors of those modules that target_modules of the config names, so both files must speak of
// modules in one layout. Here both are read, the one that is asked for is written, and a name or
// shape that does not fit is an error. Weights are written in fp32; bf16 and fp16 are read too.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trainer/model/learner.h"
#include "trainer/store/safetensors.h"

namespace plateau::train {

enum class AdapterLayout : uint8_t { hf452, legacy };
Result<AdapterLayout> parse_adapter_layout(std::string_view name);  // "hf452", "legacy"

struct AdapterConfig {
  std::string base_model;  // A path or a name, as the user gave it.
  int64_t rank = 16;
  double alpha = 16;
  double dropout = 0;
  bool rslora = false;
  bool dora = false;  // Each module has a lora_magnitude_vector beside A and B.
  std::vector<std::string> target_modules;  // Ends of names, "q_proj"; or whole names.

  [[nodiscard]] double scaling() const;  // alpha / rank; with rsLoRA alpha / sqrt(rank).
};
std::string adapter_config_text(const AdapterConfig& config,
                                AdapterLayout layout = AdapterLayout::hf452);
// Refuses what this program would silently get wrong: another kind of adapter, biases,
// transposed weights, ranks that differ by module, starts that changed the base weights.
Result<AdapterConfig> parse_adapter_config(std::string_view json, const std::string& file);

// A key in the layout asked for, whichever it is in; keys that are not an adapter's stay.
std::string adapter_key(std::string_view key, AdapterLayout layout);

// Both files, into a directory that exists. `config_json` as adapter_config_text() gives it.
Result<std::monostate> write_adapter(const std::filesystem::path& directory,
                                     const std::vector<TensorView>& weights,
                                     std::string_view config_json, AdapterLayout layout);
// All or nothing: a new directory, or an old one replaced.
Result<std::monostate> save_adapter(const std::filesystem::path& directory,
                                    const std::vector<NamedTensor>& weights,
                                    std::string_view config_json, AdapterLayout layout);
// The modules that an adapter changes, in hub names, sorted.
Result<std::vector<std::string>> adapter_modules(const std::filesystem::path& directory);
// Into the tensors of `weights`, which must be exactly those of the file, in either layout. Nothing
// is changed if they are not.
Result<std::monostate> load_adapter(const std::filesystem::path& directory,
                                    const std::vector<NamedTensor>& weights);
// The same from any file of tensors.
Result<std::monostate> load_weights(const std::filesystem::path& file,
                                    const std::vector<NamedTensor>& weights);
// The same from tensors that are in memory already. `where` is for the message; `copied`, unless it
// is empty, is called with the place in `from` of each that is not needed any more.
Result<std::monostate> fill_weights(const std::vector<NamedTensor>& weights,
                                    const std::vector<TensorView>& from, const std::string& where,
                                    const std::function<void(size_t)>& copied = nullptr);

}  // namespace plateau::train
