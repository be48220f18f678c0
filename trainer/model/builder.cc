// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/builder.h"

#include <ATen/CPUGeneratorImpl.h>

#include <cmath>
#include <cstring>
#include <utility>

#include "trainer/device/kernels.h"
#include "trainer/model/tensor.h"
#include "trainer/store/nf4_tensors.h"
#include "trainer/store/weight_names.h"

namespace plateau::train {
namespace {

at::ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return at::kHalf;
    case DType::bf16:
      return at::kBFloat16;
    case DType::f64:
      return at::kDouble;
    default:
      return at::kFloat;
  }
}

// A module's adapter starts the same whatever other modules have one: FNV-1a of its name is mixed
// into the seed.
uint64_t seed_of(uint64_t seed, const std::string& module) {
  uint64_t hash = 14695981039346656037ULL;
  for (const char letter : module) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211ULL;
  }
  return seed ^ hash;
}

at::Tensor widened(const at::Tensor& source) {
  return at::empty(source.sizes(), at::kFloat).copy_(source);
}

}  // namespace

Builder::Builder(const ModelConfig& config, std::shared_ptr<const WeightFiles> files,
                 const ModelOptions& options, at::Device device)
    : files_(std::move(files)), options_(options), device_(device) {
  if (options.trained == Trained::adapters) {
    for (LinearShape& layer : adapter_layers(config, options.lora)) {
      adapted_.insert(std::move(layer.module));
    }
  }
}

// The tensor holds the files, so that the mapping lives as long as anything that looks into it. It
// is mapped for reading: nobody may write to what comes from here.
at::Tensor Builder::mapped(const TensorView& view) const {
  const auto* start = view.bytes.data();
  auto keep = [files = files_](void*) {};
  at::Tensor raw = at::from_blob(const_cast<std::byte*>(start), view.shape, std::move(keep),
                                 at::TensorOptions(scalar_type(view.dtype)));
  const bool is_aligned = reinterpret_cast<uintptr_t>(start) % bytes_of(view.dtype) == 0;
  if (is_aligned) {
    return raw;
  }
  at::Tensor copy = at::empty(view.shape, raw.options());
  std::memcpy(copy.data_ptr(), start, view.bytes.size());
  return copy;
}

StoredMatrix Builder::packed(const TensorView& view) const {
  Result<Nf4Weight> read = read_nf4(*files_, view.name);
  TORCH_CHECK(read.ok(), read.error().message);
  return StoredMatrix(kernels_for(device_).hold(std::move(read.value()), device_));
}

at::Tensor Builder::trained(const std::string& name) {
  const TensorView& view = weight(*files_, name);
  const at::Tensor own =
      is_nf4(*files_, view.name) ? packed(view).widen_all() : widened(mapped(view)).to(device_);
  files_->release(view);
  own.set_requires_grad(true);
  trainable_.push_back({name, share(own)});
  return own;
}

at::Tensor Builder::vector(const std::string& name) {
  if (is_trained_whole(options_, name)) {
    return trained(name);
  }
  at::Tensor own = mapped(weight(*files_, name)).to(at::kFloat).to(device_);
  base_bytes_ += own.numel() * 4;
  return own;
}

StoredMatrix Builder::stored(const std::string& name, Place place) {
  const TensorView& view = weight(*files_, name);
  const at::ScalarType type = options_.storage == BaseStorage::fp32 ? at::kFloat : at::kBFloat16;
  const bool wants_nf4 = options_.storage == BaseStorage::nf4 && place == Place::block;
  StoredMatrix out;
  if (is_nf4(*files_, view.name)) {
    out = packed(view);
    if (!wants_nf4) {
      out = StoredMatrix(out.widen_all().to(type));
    }
  } else if (wants_nf4) {
    const at::Tensor wide = mapped(view).flatten(1).to(device_, at::kFloat).contiguous();
    out = StoredMatrix(kernels_for(device_).quantise(wide, options_.double_quant));
    files_->release(view);
  } else {
    const at::Tensor source = mapped(view).flatten(1);
    const at::Tensor kept = source.to(type).to(device_);
    if (!kept.is_same(source)) {
      files_->release(view);  // Converted or moved: the pages of the file are not needed again.
    }
    out = StoredMatrix(kept);
  }
  base_bytes_ += out.bytes();
  return out;
}

void Builder::add_adapter(Linear& layer, const std::string& module, int64_t rows, int64_t columns) {
  const LoraOptions& lora = options_.lora;
  auto generator = at::detail::createCPUGenerator(seed_of(lora.seed, module));
  const double bound = 1.0 / std::sqrt(static_cast<double>(columns));
  // Drawn on the host, so that an adapter starts the same wherever it is trained.
  layer.lora_a =
      at::empty({lora.rank, columns}, at::kFloat).uniform_(-bound, bound, generator).to(device_);
  layer.lora_b = at::zeros({rows, lora.rank}, layer.lora_a.options());
  layer.lora_a.set_requires_grad(true);
  layer.lora_b.set_requires_grad(true);
  layer.scaling = lora.scaling();
  layer.dropout = lora.dropout;
  trainable_.push_back({"base_model.model." + module + ".lora_A.weight", share(layer.lora_a)});
  trainable_.push_back({"base_model.model." + module + ".lora_B.weight", share(layer.lora_b)});
  if (!lora.dora) {
    return;
  }
  // B is 0: the lengths are those of the stored rows.
  layer.magnitude = layer.row_lengths();
  layer.magnitude.set_requires_grad(true);
  trainable_.push_back(
      {"base_model.model." + module + ".lora_magnitude_vector", share(layer.magnitude)});
}

Linear Builder::linear(const std::string& module, bool has_bias, Place place) {
  Linear layer;
  const std::string name = module + ".weight";
  if (is_trained_whole(options_, name)) {
    layer.weight = trained(name);
  } else {
    layer.stored = stored(name, place);
  }
  if (has_bias) {
    layer.bias = vector(module + ".bias");
  }
  if (adapted_.contains(module)) {
    add_adapter(layer, module, layer.stored.rows(), layer.stored.columns());
  }
  return layer;
}

}  // namespace plateau::train
