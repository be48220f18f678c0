// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/qwen.h"

#include <algorithm>
#include <new>
#include <utility>

#include "trainer/device/device.h"
#include "trainer/model/builder.h"
#include "trainer/model/decoder.h"
#include "trainer/model/packing.h"
#include "trainer/model/phase.h"
#include "trainer/model/tensor.h"
#include "trainer/model/vision.h"
#include "trainer/store/weight_names.h"

namespace plateau::train {

struct QwenVl::State {
  State(const ModelConfig& with_config, const ModelOptions& with_options, Builder& builder)
      : config(with_config),
        options(with_options),
        tower(with_config.vision, builder),
        decoder(with_config, builder),
        trainable(builder.trainable()),
        base_bytes(builder.base_bytes()) {}

  ModelConfig config;
  ModelOptions options;
  VisionTower tower;
  Decoder decoder;
  std::vector<NamedTensor> trainable;
  int64_t base_bytes = 0;
};

namespace {

// LibTorch throws; the rest of the trainer does not.
template <typename T, typename Compute>
Result<T> guarded(const Compute& compute) {
  try {
    return compute();
  } catch (const c10::Error& error) {
    return Error{Error::Kind::bad_input, error.what_without_backtrace()};
  } catch (const std::bad_alloc&) {
    return Error{Error::Kind::bad_input, "not enough memory for the model or the batch"};
  }
}

// Embeddings of text with those of pictures in their places.
at::Tensor embed_all(const VisionTower& tower, const Decoder& decoder, const Batch& batch,
                     const PackedBatch& packed, const Pass& pass) {
  at::Tensor embedded = decoder.embed(index_tensor(packed.ids, decoder.device()));
  if (packed.vision_tokens.empty()) {
    return embedded;
  }
  const at::Tensor pictures = tower.forward(batch, pass);
  const at::Tensor places = index_tensor(packed.vision_tokens, decoder.device());
  return embedded.requires_grad() ? embedded.index_copy(0, places, pictures)
                                  : embedded.index_copy_(0, places, pictures);
}

at::Tensor hidden_states(const VisionTower& tower, const Decoder& decoder, const Batch& batch,
                         const PackedBatch& packed, const Pass& pass) {
  const Rotation rotation = decoder.rotation(packed.positions);
  return decoder.layers(embed_all(tower, decoder, batch, packed, pass), rotation, packed.row_bounds,
                        pass);
}

LossSum loss_at_labels(const Decoder& decoder, const at::Tensor& hidden, const PackedBatch& packed,
                       int64_t chunk) {
  const PhaseScope phase(MemoryPhase::logits);
  const at::Device device = decoder.device();
  const at::Tensor chosen = hidden.index_select(0, index_tensor(packed.predictors, device));
  const at::Tensor sum = head_loss(decoder.final_norm(chosen), decoder.head(),
                                   index_tensor(packed.targets, device), chunk);
  return {share(sum), static_cast<int64_t>(packed.targets.size())};
}

// Back into rows x columns, with zeros for padding.
at::Tensor unpacked(const at::Tensor& values, const Batch& batch, const PackedBatch& packed) {
  at::Tensor out = at::zeros({batch.rows * batch.columns, values.size(1)}, values.options());
  out.index_copy_(0, index_tensor(packed.places, values.device()), values);
  return out.view({batch.rows, batch.columns, values.size(1)});
}

// Row 0 with the pictures that are its own.
Batch first_row(const ModelConfig& config, const Batch& batch) {
  Batch row;
  row.rows = 1;
  row.columns = batch.columns;
  const auto columns = static_cast<size_t>(batch.columns);
  const auto head = [&](const auto& values) {
    return std::decay_t<decltype(values)>(
        values.begin(),
        values.begin() + static_cast<std::ptrdiff_t>(std::min(columns, values.size())));
  };
  row.ids = head(batch.ids);
  row.mask = head(batch.mask);
  row.labels.assign(row.ids.size(), kNoLabel);
  row.patch_values = batch.patch_values;
  row.seconds_per_grid = batch.seconds_per_grid;
  int64_t tokens = 0;
  for (size_t i = 0; i < row.ids.size() && i < row.mask.size(); ++i) {
    const bool is_vision = row.ids[i] == config.image_token || row.ids[i] == config.video_token;
    tokens += is_vision && row.mask[i] != 0 ? 1 : 0;
  }
  size_t values = 0;
  for (const Grid& grid : batch.grids) {
    if (tokens <= 0) {
      break;
    }
    tokens -= grid.tokens(config.vision.merge_size);
    values += static_cast<size_t>(grid.patches() * batch.patch_values);
    row.grids.push_back(grid);
  }
  values = std::min(values, batch.patches.size());
  row.patches.assign(batch.patches.begin(),
                     batch.patches.begin() + static_cast<std::ptrdiff_t>(values));
  return row;
}

Result<std::monostate> check_options(const ModelOptions& options) {
  const bool has_adapters = options.trained == Trained::adapters;
  if (options.attention_chunk < 1 || options.loss_chunk < 1) {
    return Error{Error::Kind::usage, "chunks of attention and loss must be at least 1"};
  }
  if (has_adapters &&
      (options.lora.rank < 1 || options.lora.dropout < 0 || options.lora.dropout >= 1)) {
    return Error{Error::Kind::usage, "a LoRA rank is at least 1 and its dropout in [0, 1)"};
  }
  if (has_adapters && options.lora.dora && options.lora.dropout > 0) {
    return Error{Error::Kind::usage, "DoRA is computed without dropout here"};
  }
  if (options.trained == Trained::everything && options.storage != BaseStorage::fp32) {
    return Error{Error::Kind::usage, "all weights can be trained in fp32 only"};
  }
  return std::monostate{};
}

}  // namespace

QwenVl::QwenVl(std::unique_ptr<State> state) : state_(std::move(state)) {}
QwenVl::~QwenVl() = default;

Result<std::unique_ptr<QwenVl>> QwenVl::load(const ModelConfig& config,
                                             std::shared_ptr<const WeightFiles> files,
                                             const ModelOptions& options) {
  if (auto checked = check_options(options); !checked) {
    return checked.error();
  }
  const Result<at::Device> device = device_named(options.device);
  if (!device) {
    return device.error();
  }
  if (auto checked = check_weights(config, *files); !checked) {
    return checked.error();
  }
  return guarded<std::unique_ptr<QwenVl>>([&] {
    Builder builder(config, std::move(files), options, device.value());
    return std::unique_ptr<QwenVl>(new QwenVl(std::make_unique<State>(config, options, builder)));
  });
}

Result<LossSum> QwenVl::forward(const Batch& batch) {
  auto packed = pack_batch(state_->config, batch);
  if (!packed) {
    return packed.error();
  }
  return guarded<LossSum>([&] {
    const Pass pass{true, state_->options.gradient_checkpointing, state_->options.attention_chunk,
                    nullptr};
    const at::Tensor hidden =
        hidden_states(state_->tower, state_->decoder, batch, packed.value(), pass);
    return loss_at_labels(state_->decoder, hidden, packed.value(), state_->options.loss_chunk);
  });
}

Result<LossSum> QwenVl::evaluate(const Batch& batch) {
  auto packed = pack_batch(state_->config, batch);
  if (!packed) {
    return packed.error();
  }
  return guarded<LossSum>([&] {
    const at::NoGradGuard without_graph;
    const Pass pass{false, false, state_->options.attention_chunk, nullptr};
    const at::Tensor hidden =
        hidden_states(state_->tower, state_->decoder, batch, packed.value(), pass);
    return loss_at_labels(state_->decoder, hidden, packed.value(), state_->options.loss_chunk);
  });
}

std::vector<NamedTensor> QwenVl::trainable() {
  return state_->trainable;
}

Result<QwenVl::Inspection> QwenVl::inspect(const Batch& batch) {
  auto packed = pack_batch(state_->config, batch);
  if (!packed) {
    return packed.error();
  }
  return guarded<Inspection>([&] {
    const at::NoGradGuard without_graph;
    std::map<std::string, at::Tensor> activations;
    const Pass pass{false, false, state_->options.attention_chunk, &activations};
    const at::Tensor hidden =
        hidden_states(state_->tower, state_->decoder, batch, packed.value(), pass);
    Inspection out;
    for (const auto& [name, value] : activations) {
      const bool is_text = name.starts_with("model.");
      out.activations[name] = share(is_text ? unpacked(value, batch, packed.value()) : value);
    }
    out.logits = share(unpacked(state_->decoder.logits(hidden), batch, packed.value()));
    out.loss = loss_at_labels(state_->decoder, hidden, packed.value(), state_->options.loss_chunk);
    return out;
  });
}

Result<std::vector<int64_t>> QwenVl::generate(const Batch& prompt, int64_t limit,
                                              std::span<const int64_t> stop) {
  const Batch row = first_row(state_->config, prompt);
  auto packed = pack_batch(state_->config, row);
  if (!packed) {
    return packed.error();
  }
  return guarded<std::vector<int64_t>>([&] {
    const at::NoGradGuard without_graph;
    const int64_t chunk = state_->options.attention_chunk;
    const Pass pass{false, false, chunk, nullptr};
    const Decoder& decoder = state_->decoder;
    int64_t next_position = 0;
    for (const std::vector<int64_t>& axis : packed.value().positions) {
      next_position = std::max(next_position, *std::max_element(axis.begin(), axis.end()) + 1);
    }
    KeyValueCache cache;
    at::Tensor embedded = embed_all(state_->tower, decoder, row, packed.value(), pass);
    Rotation rotation = decoder.rotation(packed.value().positions);
    std::vector<int64_t> out;
    while (static_cast<int64_t>(out.size()) < limit) {
      const at::Tensor hidden = decoder.continue_layers(embedded, rotation, cache, chunk);
      const at::Tensor last = hidden.narrow(0, hidden.size(0) - 1, 1);
      const auto id = decoder.logits(last).argmax(-1).item<int64_t>();
      out.push_back(id);
      if (std::find(stop.begin(), stop.end(), id) != stop.end()) {
        break;
      }
      embedded = decoder.embed(index_tensor({id}, decoder.device()));
      const std::vector<int64_t> here = {next_position++};
      rotation = decoder.rotation({here, here, here});
    }
    return out;
  });
}

const ModelConfig& QwenVl::config() const {
  return state_->config;
}
const ModelOptions& QwenVl::options() const {
  return state_->options;
}
int64_t QwenVl::base_bytes() const {
  return state_->base_bytes;
}

}  // namespace plateau::train
