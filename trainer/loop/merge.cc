// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "trainer/loop/adapter.h"
#include "trainer/loop/durable.h"
#include "trainer/loop/half.h"

namespace plateau::train {
namespace {

namespace fs = std::filesystem;

struct Pair {
  const TensorView* a = nullptr;
  const TensorView* b = nullptr;
  const TensorView* magnitude = nullptr;  // With DoRA.
};

Error unfit(std::string message) {
  return {.kind = Error::Kind::bad_input, .message = std::move(message)};
}

constexpr std::string_view kPrefix = "base_model.model.";

// The place in its pair for a key that ends in `.lora_...`; null for any other.
const TensorView** place_in(Pair& pair, std::string_view end) {
  if (end == ".lora_A.weight") return &pair.a;
  if (end == ".lora_B.weight") return &pair.b;
  return end == ".lora_magnitude_vector" ? &pair.magnitude : nullptr;
}

// By the name of the weight in the spelling of the hub: "model.layers.0.self_attn.q_proj.weight".
Result<std::map<std::string, Pair>> pairs_of(const SafetensorsFile& file, bool is_dora) {
  std::map<std::string, Pair> pairs;
  for (const TensorView& view : file.tensors()) {
    const std::string key = adapter_key(view.name, AdapterLayout::legacy);
    const size_t end = key.rfind(".lora_");
    Pair none;
    const TensorView** known =
        end == std::string::npos ? nullptr : place_in(none, std::string_view(key).substr(end));
    const size_t sides = known == &none.magnitude ? 1 : 2;
    if (!key.starts_with(kPrefix) || known == nullptr || view.shape.size() != sides ||
        !can_widen(view.dtype)) {
      return unfit(fmt::format("{}: {} is not a matrix of floats of a LoRA adapter",
                               file.path().string(), view.name));
    }
    Pair& pair = pairs[key.substr(kPrefix.size(), end - kPrefix.size()) + ".weight"];
    *place_in(pair, std::string_view(key).substr(end)) = &view;
  }
  for (const auto& [module, pair] : pairs) {
    if (pair.a == nullptr || pair.b == nullptr) {
      return unfit(
          fmt::format("{}: {} has only one of lora_A and lora_B", file.path().string(), module));
    }
    if ((pair.magnitude != nullptr) != is_dora) {
      return unfit(fmt::format("{}: {} {} a lora_magnitude_vector, and use_dora is {}",
                               file.path().string(), module, is_dora ? "lacks" : "has", is_dora));
    }
  }
  return pairs;
}

std::string weight_key(const std::string& name) {
  return adapter_key("base_model.model." + name, AdapterLayout::legacy).substr(17);
}

Result<std::monostate> check_fit(const TensorView& base, const Pair& pair, int64_t rank) {
  if (!can_widen(base.dtype) || base.shape.size() != 2 || pair.a->shape[0] != rank ||
      pair.b->shape[1] != rank || pair.a->shape[1] != base.shape[1] ||
      pair.b->shape[0] != base.shape[0] ||
      (pair.magnitude != nullptr && pair.magnitude->shape[0] != base.shape[0])) {
    return unfit(fmt::format("{}: {} [{}] does not take A [{}] and B [{}] of rank {}", base.name,
                             name_of(base.dtype), fmt::join(base.shape, ", "),
                             fmt::join(pair.a->shape, ", "), fmt::join(pair.b->shape, ", "), rank));
  }
  return std::monostate{};
}

void bring_to_length(std::span<float> row, float length) {
  double squares = 0;
  for (const float value : row) squares += static_cast<double>(value) * value;
  const auto factor = static_cast<float>(length / std::sqrt(squares));
  for (float& value : row) value *= factor;
}

bool is_weights(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".safetensors" || extension == ".bin" || extension == ".pt" ||
         extension == ".pth" || extension == ".gguf";
}

class Merger {
 public:
  Merger(const WeightFiles& weights, std::map<std::string, Pair> pairs, const AdapterConfig& config)
      : weights_(weights), pairs_(std::move(pairs)), config_(config) {}

  Result<std::monostate> check() const {
    std::set<std::string> known;
    for (const TensorView* view : weights_.tensors()) {
      const std::string key = weight_key(view->name);
      known.insert(key);
      if (const auto found = pairs_.find(key); found != pairs_.end()) {
        if (auto fits = check_fit(*view, found->second, config_.rank); !fits.ok()) return fits;
      }
    }
    for (const auto& [module, pair] : pairs_) {
      if (!known.contains(module)) {
        return unfit(fmt::format("the model has no {}, which the adapter changes", module));
      }
    }
    return std::monostate{};
  }

  Result<std::monostate> write_shard(const SafetensorsFile& shard, const fs::path& path) {
    std::vector<SafetensorsWriter::Entry> entries;
    entries.reserve(shard.tensors().size());
    for (const TensorView& view : shard.tensors()) {
      entries.push_back({.name = view.name, .dtype = view.dtype, .shape = view.shape});
    }
    auto writer = SafetensorsWriter::create(path, std::move(entries), shard.metadata());
    if (!writer.ok()) return writer.error();
    for (const TensorView& view : shard.tensors()) {
      auto added = add(writer.value(), view);
      if (!added.ok()) return added;
      weights_.release(view);
    }
    return writer.value().finish();
  }

  [[nodiscard]] const MergeReport& report() const { return report_; }

 private:
  Result<std::monostate> add(SafetensorsWriter& writer, const TensorView& view) {
    ++report_.tensors;
    report_.bytes += static_cast<int64_t>(view.bytes.size());
    const auto found = pairs_.find(weight_key(view.name));
    if (found == pairs_.end()) return writer.add(view.bytes);
    ++report_.merged;
    std::vector<std::byte> sum(view.bytes.size());
    add_product(view, *found->second.a, *found->second.b, found->second.magnitude,
                config_.scaling(), sum);
    return writer.add(sum);
  }

  const WeightFiles& weights_;
  std::map<std::string, Pair> pairs_;
  const AdapterConfig& config_;
  MergeReport report_;
};

}  // namespace

Result<std::monostate> copy_other_files(const fs::path& from, const fs::path& to) {
  std::error_code code;
  for (fs::directory_iterator it(from, code), end; !code && it != end; it.increment(code)) {
    const fs::path& path = it->path();
    if (!it->is_regular_file(code) || is_weights(path) ||
        path.filename().string().starts_with('.')) {
      continue;
    }
    const auto bytes = read_whole(path);
    if (!bytes.ok()) return bytes.error();
    auto written = write_durably(to / path.filename(), bytes.value());
    if (!written.ok()) return written;
  }
  if (code) return unfit(fmt::format("{}: {}", from.string(), code.message()));
  return std::monostate{};
}

void add_product(const TensorView& base, const TensorView& a, const TensorView& b,
                 const TensorView* magnitude, double scaling, std::span<std::byte> out) {
  const auto rows = static_cast<size_t>(base.shape[0]);
  const auto columns = static_cast<size_t>(base.shape[1]);
  const auto rank = static_cast<size_t>(a.shape[0]);
  const size_t row_bytes = columns * bytes_of(base.dtype);
  // A file may put tensors at any byte, so values are copied out before use.
  std::vector<float> product(columns);
  std::vector<float> row(columns);
  std::vector<float> a_all(rank * columns);
  std::vector<float> b_all(rows * rank);
  std::vector<float> lengths(magnitude == nullptr ? 0 : rows);
  widen(a.bytes, a.dtype, a_all);
  widen(b.bytes, b.dtype, b_all);
  if (magnitude != nullptr) widen(magnitude->bytes, magnitude->dtype, lengths);
  for (size_t i = 0; i < rows; ++i) {
    std::fill(product.begin(), product.end(), 0.0F);
    for (size_t k = 0; k < rank; ++k) {
      const float factor = b_all[i * rank + k];
      const float* a_values = a_all.data() + k * columns;
      for (size_t j = 0; j < columns; ++j) product[j] += factor * a_values[j];
    }
    widen(base.bytes.subspan(i * row_bytes, row_bytes), base.dtype, row);
    const auto scale = static_cast<float>(scaling);
    for (size_t j = 0; j < columns; ++j) row[j] += scale * product[j];
    if (magnitude != nullptr) bring_to_length(row, lengths[i]);
    narrow(row, base.dtype, out.subspan(i * row_bytes, row_bytes));
  }
}

Result<MergeReport> merge_adapter(const fs::path& model_directory,
                                  const fs::path& adapter_directory,
                                  const fs::path& output_directory) {
  std::error_code code;
  if (fs::exists(output_directory, code) && !fs::is_empty(output_directory, code)) {
    return Error{Error::Kind::usage,
                 fmt::format("{} exists and is not empty", output_directory.string())};
  }
  const fs::path config_path = adapter_directory / "adapter_config.json";
  const auto config_text = read_whole(config_path);
  if (!config_text.ok()) return config_text.error();
  const auto config = parse_adapter_config(config_text.value(), config_path.string());
  if (!config.ok()) return config.error();
  const auto adapter = SafetensorsFile::open(adapter_directory / "adapter_model.safetensors");
  if (!adapter.ok()) return adapter.error();
  auto pairs = pairs_of(adapter.value(), config.value().dora);
  if (!pairs.ok()) return pairs.error();
  const auto weights = WeightFiles::open(model_directory);
  if (!weights.ok()) return weights.error();

  Merger merger(weights.value(), std::move(pairs.value()), config.value());
  if (auto fits = merger.check(); !fits.ok()) return fits.error();
  auto fresh = NewDirectory::create(output_directory);
  if (!fresh.ok()) return fresh.error();
  for (const SafetensorsFile& shard : weights.value().files()) {
    auto written = merger.write_shard(shard, fresh.value().path() / shard.path().filename());
    if (!written.ok()) return written.error();
  }
  auto copied = copy_other_files(model_directory, fresh.value().path());
  if (!copied.ok()) return copied.error();
  if (auto published = fresh.value().publish(); !published.ok()) return published.error();
  return merger.report();
}

}  // namespace plateau::train
