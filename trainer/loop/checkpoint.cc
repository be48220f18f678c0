// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "trainer/loop/durable.h"
#include "trainer/loop/state_json.h"
#include "trainer/loop/tensors.h"
#include "trainer/store/safetensors.h"

namespace plateau::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "checkpoint-";
constexpr std::string_view kAdapterFile = "adapter_model.safetensors";
constexpr std::string_view kAdapterConfigFile = "adapter_config.json";
constexpr std::string_view kModelFile = "model.safetensors";
constexpr std::string_view kOptimizerFile = "optimizer.safetensors";
constexpr std::string_view kTrainerFile = "trainer_state.json";
constexpr std::string_view kPlateauFile = "plateau_state.json";

std::vector<TensorView> views_of(const std::vector<StateTensor>& tensors) {
  std::vector<TensorView> views;
  views.reserve(tensors.size());
  for (const StateTensor& tensor : tensors) views.push_back(view_of(tensor.name, tensor.tensor));
  return views;
}

Result<std::monostate> write_files(const fs::path& directory, const Checkpoint& checkpoint) {
  const std::vector<TensorView> weights = views_of(checkpoint.weights);
  auto written =
      checkpoint.adapter_config_json.empty()
          ? write_safetensors(directory / kModelFile, weights, {{"format", "pt"}})
          : write_adapter(directory, weights, checkpoint.adapter_config_json, checkpoint.layout);
  if (!written.ok()) return written;
  written = write_safetensors(directory / kOptimizerFile, views_of(checkpoint.optimizer), {});
  if (!written.ok()) return written;
  written = write_durably(directory / kTrainerFile, trainer_state_json(checkpoint.state));
  if (!written.ok()) return written;
  return write_durably(directory / kPlateauFile, plateau_state_json(checkpoint.state));
}

Result<std::vector<StateTensor>> read_tensors(const fs::path& path) {
  auto opened = SafetensorsFile::open(path);
  if (!opened.ok()) return opened.error();
  const auto file = std::make_shared<const SafetensorsFile>(std::move(opened.value()));
  std::vector<StateTensor> out;
  for (const TensorView& view : file->tensors()) {
    auto tensor = mapped_tensor(view, file);
    if (!tensor.ok()) return tensor.error();
    out.push_back({.name = view.name, .tensor = std::move(tensor.value())});
  }
  return out;
}

// The step in a checkpoint's name; -1 for any other name.
int64_t step_of(const fs::path& path) {
  const std::string name = path.filename().string();
  if (!name.starts_with(kPrefix)) return -1;
  const std::string_view digits = std::string_view(name).substr(kPrefix.size());
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) return -1;
  return parse_int(digits).value_or(-1);
}

}  // namespace

Result<fs::path> write_checkpoint(const fs::path& output_directory, const Checkpoint& checkpoint) {
  const fs::path place =
      output_directory / fmt::format("{}{}", kPrefix, checkpoint.state.position.step);
  auto fresh = NewDirectory::create(place);
  if (!fresh.ok()) return fresh.error();
  auto written = write_files(fresh.value().path(), checkpoint);
  if (written.ok()) written = fresh.value().publish();
  if (!written.ok()) {
    return Error{written.error().kind,
                 fmt::format("checkpoint of step {} not written: {}",
                             checkpoint.state.position.step, written.error().message)};
  }
  return place;
}

Result<Checkpoint> read_checkpoint(const fs::path& directory) {
  if (std::error_code code; !fs::is_directory(directory, code)) {
    return Error{Error::Kind::not_found,
                 fmt::format("{} is not a checkpoint directory", directory.string())};
  }
  const auto trainer = read_whole(directory / kTrainerFile);
  if (!trainer.ok()) return trainer.error();
  const auto plateau = read_whole(directory / kPlateauFile);
  if (!plateau.ok()) return plateau.error();
  auto state = parse_state(trainer.value(), plateau.value(), directory.string());
  if (!state.ok()) return state.error();
  Checkpoint checkpoint;
  checkpoint.state = std::move(state.value());
  std::error_code code;
  const bool is_adapter = fs::exists(directory / kAdapterFile, code);
  if (is_adapter) {
    auto config = read_whole(directory / kAdapterConfigFile);
    if (!config.ok()) return config.error();
    checkpoint.adapter_config_json = std::move(config.value());
  }
  auto weights = read_tensors(directory / (is_adapter ? kAdapterFile : kModelFile));
  if (!weights.ok()) return weights.error();
  checkpoint.weights = std::move(weights.value());
  for (StateTensor& weight : checkpoint.weights) {
    weight.name = adapter_key(weight.name, AdapterLayout::legacy);
  }
  auto optimizer = read_tensors(directory / kOptimizerFile);
  if (!optimizer.ok()) return optimizer.error();
  checkpoint.optimizer = std::move(optimizer.value());
  return checkpoint;
}

std::vector<fs::path> list_checkpoints(const fs::path& output_directory) {
  std::vector<std::pair<int64_t, fs::path>> found;
  std::error_code code;
  for (fs::directory_iterator it(output_directory, code), end; !code && it != end;
       it.increment(code)) {
    const int64_t step = step_of(it->path());
    std::error_code ignored;
    if (step >= 0 && fs::exists(it->path() / kPlateauFile, ignored)) {
      found.emplace_back(step, it->path());
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<fs::path> paths;
  paths.reserve(found.size());
  for (auto& [step, path] : found) paths.push_back(std::move(path));
  return paths;
}

Result<std::monostate> prune_checkpoints(const fs::path& output_directory, int64_t limit,
                                         const fs::path& keep) {
  if (limit <= 0) return std::monostate{};
  // By the time they were written, not by their step: a run that was resumed from an old one may
  // find later ones ahead of it.
  std::vector<std::pair<fs::file_time_type, fs::path>> all;
  for (fs::path& path : list_checkpoints(output_directory)) {
    std::error_code code;
    const auto written = fs::last_write_time(path / kPlateauFile, code);
    if (!code) all.emplace_back(written, std::move(path));
  }
  // Two of one moment: the earlier step first.
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first, step_of(a.second)) < std::pair(b.first, step_of(b.second));
  });
  auto count = static_cast<int64_t>(all.size());
  for (size_t i = 0; i + 1 < all.size() && count > limit; ++i) {
    const fs::path& path = all[i].second;
    if (path.filename() == keep.filename()) continue;
    if (auto removed = remove_directory(path); !removed.ok()) return removed;
    --count;
  }
  return std::monostate{};
}

}  // namespace plateau::train
