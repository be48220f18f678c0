// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/trained_model.h"

#include <fmt/format.h>

#include <map>
#include <string>

#include "trainer/loop/durable.h"
#include "trainer/loop/half.h"
#include "trainer/loop/merge.h"
#include "trainer/loop/tensors.h"
#include "trainer/store/safetensors.h"
#include "trainer/store/weight_names.h"

namespace plateau::train {
namespace {

using ByName = std::map<std::string, Tensor>;

// A head that is tied to the embedding may lie in the file a second time.
const Tensor* find(const ByName& trained, const std::string& name) {
  auto found = trained.find(name);
  if (found == trained.end() && name == "lm_head.weight") {
    found = trained.find("model.embed_tokens.weight");
  }
  return found == trained.end() ? nullptr : &found->second;
}

Result<std::monostate> add(SafetensorsWriter& writer, const TensorView& old,
                           const ByName& trained) {
  const Tensor* tensor = find(trained, hub_name(old.name));
  if (tensor == nullptr) return writer.add(old.bytes);
  const Tensor host = on_host(*tensor);
  const TensorView now = view_of(old.name, host);
  if (now.shape != old.shape) {
    return Error{Error::Kind::bad_input,
                 fmt::format("{}: was trained as [{}], the file has [{}]", old.name,
                             fmt::join(now.shape, ", "), fmt::join(old.shape, ", "))};
  }
  std::vector<std::byte> bytes(old.bytes.size());
  const auto* values = reinterpret_cast<const float*>(now.bytes.data());
  narrow({values, static_cast<size_t>(now.elements())}, old.dtype, bytes);
  return writer.add(bytes);
}

Result<std::monostate> write_shard(const WeightFiles& weights, const SafetensorsFile& shard,
                                   const ByName& trained, const std::filesystem::path& path) {
  std::vector<SafetensorsWriter::Entry> entries;
  entries.reserve(shard.tensors().size());
  for (const TensorView& view : shard.tensors()) {
    entries.push_back({.name = view.name, .dtype = view.dtype, .shape = view.shape});
  }
  auto writer = SafetensorsWriter::create(path, std::move(entries), shard.metadata());
  if (!writer.ok()) return writer.error();
  for (const TensorView& view : shard.tensors()) {
    if (auto added = add(writer.value(), view, trained); !added.ok()) return added;
    weights.release(view);
  }
  return writer.value().finish();
}

}  // namespace

Result<std::monostate> check_can_be_trained(const std::filesystem::path& model_directory) {
  const auto weights = WeightFiles::open(model_directory);
  if (!weights.ok()) return weights.error();
  for (const TensorView* view : weights.value().tensors()) {
    if (can_widen(view->dtype)) continue;
    return Error{Error::Kind::bad_input,
                 fmt::format("{}: {} is stored as {}, which --full-finetuning cannot write; it "
                             "needs a model in fp32, bf16 or fp16",
                             model_directory.string(), view->name, name_of(view->dtype))};
  }
  return std::monostate{};
}

Result<std::monostate> write_trained_model(const std::filesystem::path& model_directory,
                                           const std::vector<NamedTensor>& trained,
                                           const std::filesystem::path& output_directory) {
  const auto weights = WeightFiles::open(model_directory);
  if (!weights.ok()) return weights.error();
  ByName by_name;
  for (const NamedTensor& named : trained) by_name.emplace(hub_name(named.name), named.tensor);
  auto fresh = NewDirectory::create(output_directory);
  if (!fresh.ok()) return fresh.error();
  for (const SafetensorsFile& shard : weights.value().files()) {
    auto written = write_shard(weights.value(), shard, by_name,
                               fresh.value().path() / shard.path().filename());
    if (!written.ok()) return written;
  }
  auto copied = copy_other_files(model_directory, fresh.value().path());
  if (!copied.ok()) return copied;
  return fresh.value().publish();
}

}  // namespace plateau::train
