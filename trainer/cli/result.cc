// SPDX-License-Identifier: Apache-2.0
#include "trainer/cli/result.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/units.h"
#include "report/terminal.h"
#include "trainer/loop/checkpoint.h"
#include "trainer/loop/durable.h"
#include "trainer/loop/heap.h"
#include "trainer/loop/memory_tracker.h"
#include "trainer/loop/merge.h"
#include "trainer/loop/trained_model.h"
#include "trainer/plan/plan_text.h"
#include "trainer/store/narrowed_lora.h"
#include "trainer/store/weight_names.h"

namespace plateau::train {
namespace {

constexpr size_t kSkippedShown = 5;

// Every line by asking its owner, or the allocator of all tensors.
Measurements measured_of(const Account& account) {
  const RunMemory& memory = account.trained.memory;
  const OwnMemory own = own_memory();
  return with_rest(account.planned.plan, {{"base", account.model.base_bytes()},
                                          {"adapters", memory.adapters},
                                          {"trained", memory.adapters},
                                          {"gradients", memory.gradients},
                                          {"optimizer", memory.optimizer},
                                          {"activations", memory.activations},
                                          {"logits", memory.logits},
                                          {"images", memory.images},
                                          {"prefetch", account.ahead_bytes},
                                          {"runtime", account.runtime_bytes},
                                          {"resident", account.self.last_resident_bytes()},
                                          {"peak", own.peak_bytes}});
}

std::string reason_text(StopReason reason) {
  switch (reason) {
    case StopReason::finished:
      return "trained";
    case StopReason::early:
      return "stopped early: evaluation loss no longer improved";
    case StopReason::signal:
      return "stopped by a signal, after a checkpoint";
    case StopReason::memory_limit:
      return "stopped above --memory-limit, after a checkpoint";
  }
  return "";
}

void say_skipped(const std::vector<BadExample>& skipped, Output& out) {
  if (skipped.empty()) return;
  out.print(fmt::format("{} bad examples were left out:\n",
                        format_count(static_cast<int64_t>(skipped.size()))));
  for (size_t i = 0; i < std::min(skipped.size(), kSkippedShown); ++i) {
    out.print(fmt::format("  {}\n", printable(skipped[i].message)));
  }
}

}  // namespace

Result<std::unique_ptr<QwenVl>> load_model(const std::filesystem::path& directory,
                                           const ModelConfig& config, const ModelOptions& options) {
  Result<WeightFiles> opened = WeightFiles::open(directory);
  if (!opened) return opened.error();
  auto files = std::make_shared<const WeightFiles>(std::move(opened.value()));
  const Result<std::monostate> checked = check_weights(config, *files);
  if (!checked) return checked.error();
  const PhaseScope phase(MemoryPhase::load);
  ModelOptions chosen = options;
  chosen.lora = narrowed(config, options.lora);
  Result<std::unique_ptr<QwenVl>> model = QwenVl::load(config, std::move(files), chosen);
  // Of what was widened and packed nothing is needed again.
  release_kept_blocks();
  trim_heap();
  return model;
}

Result<std::unique_ptr<QwenVl>> load_adapted_model(const std::filesystem::path& directory,
                                                   const ModelConfig& config, ModelOptions options,
                                                   const std::filesystem::path& adapter) {
  const std::filesystem::path file = adapter / "adapter_config.json";
  const Result<std::string> text = read_whole(file);
  if (!text) return text.error();
  const Result<AdapterConfig> is = parse_adapter_config(text.value(), file.string());
  if (!is) return is.error();
  Result<std::vector<std::string>> modules = adapter_modules(adapter);
  if (!modules) return modules.error();
  options.trained = Trained::adapters;
  options.lora = {.rank = is.value().rank,
                  .alpha = is.value().alpha,
                  .rslora = is.value().rslora,
                  .dora = is.value().dora,
                  .targets = std::move(modules.value())};
  Result<std::unique_ptr<QwenVl>> model = load_model(directory, config, options);
  if (!model) return model;
  const Result<std::monostate> loaded = load_adapter(adapter, model.value()->trainable());
  if (!loaded) return loaded.error();
  return model;
}

AdapterConfig adapter_config_of(const TrainRequest& request, const ModelConfig& config) {
  const LoraOptions& lora = request.sizing.model.lora;
  std::set<std::string> targets;
  for (const LinearShape& layer : adapter_layers(config, lora)) targets.insert(layer.module);
  return {.base_model = request.sizing.model_directory.string(),
          .rank = lora.rank,
          .alpha = lora.alpha,
          .dropout = lora.dropout,
          .rslora = lora.rslora,
          .dora = lora.dora,
          .target_modules = {targets.begin(), targets.end()}};
}

Result<std::filesystem::path> save_result(const TrainRequest& request, const ModelConfig& config,
                                          QwenVl& model, const TrainingResult& trained) {
  const bool is_whole = request.sizing.model.trained == Trained::everything;
  if (!trained.best_checkpoint.empty()) {
    const Result<std::monostate> loaded =
        is_whole ? load_weights(trained.best_checkpoint / "model.safetensors", model.trainable())
                 : load_adapter(trained.best_checkpoint, model.trainable());
    if (!loaded) return loaded.error();
  }
  if (is_whole) {
    std::filesystem::path place = request.training.output_directory / "model";
    const auto written =
        write_trained_model(request.sizing.model_directory, model.trainable(), place);
    if (!written) return written.error();
    return place;
  }
  // The model of an earlier end of this run must not stand beside another adapter, at no moment.
  const std::filesystem::path merged = request.training.output_directory / "merged";
  if (std::error_code code; std::filesystem::exists(merged, code)) {
    if (const auto removed = remove_directory(merged); !removed) return removed.error();
  }
  const std::filesystem::path adapter = request.training.output_directory / "adapter";
  const std::string text = adapter_config_text(adapter_config_of(request, config));
  const Result<std::monostate> saved =
      save_adapter(adapter, model.trainable(), text, AdapterLayout::hf452);
  if (!saved) return saved.error();
  if (!request.is_merged) return adapter;
  const auto done = merge_adapter(request.sizing.model_directory, adapter, merged);
  if (!done) return done.error();
  return merged;
}

void say_end(const Account& account, const View& view, Output& out) {
  const TrainingResult& trained = account.trained;
  out.print(fmt::format("{}: {} steps, loss {:.4f}{}\n", reason_text(trained.reason),
                        format_count(trained.steps), trained.last_loss,
                        trained.best_eval_loss
                            ? fmt::format(", best evaluation {:.4f}", *trained.best_eval_loss)
                            : ""));
  say_skipped(account.skipped, out);
  if (account.request.quiet) return;
  const Measurements measured = measured_of(account);
  out.print("Memory, planned and measured:\n");
  out.print(plan_table(account.planned.plan, &measured, view.width));
  out.print("\n" + render_verdict(account.self.verdict(), view));
}

}  // namespace plateau::train
