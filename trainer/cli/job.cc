// SPDX-License-Identifier: Apache-2.0
#include "trainer/cli/job.h"

#include <fmt/format.h>

#include "trainer/loop/distributed.h"
#include "trainer/store/narrowed_lora.h"

namespace plateau::train {
namespace {

// Enough to see the largest ones, and a matter of seconds.
constexpr size_t kExamplesLookedAt = 2000;

std::optional<Error> check_token(const Tokenizer& tokenizer, const char* text, int64_t expected,
                                 const std::filesystem::path& directory) {
  const std::optional<int64_t> id = tokenizer.id_of(text);
  if (id == expected) return std::nullopt;
  return Error{.message = fmt::format("{}: config.json gives {} the id {}, tokenizer.json {}",
                                      directory.string(), text, expected,
                                      id ? std::to_string(*id) : "none")};
}

std::optional<Error> check_tokens(const ModelConfig& config, const Tokenizer& tokenizer,
                                  const std::filesystem::path& directory) {
  if (tokenizer.size() > config.vocab_size) {
    return Error{.message = fmt::format("{}: tokenizer.json has {} ids, the model {}",
                                        directory.string(), tokenizer.size(), config.vocab_size)};
  }
  const std::pair<const char*, int64_t> pairs[] = {{"<|image_pad|>", config.image_token},
                                                   {"<|vision_start|>", config.vision_start_token},
                                                   {"<|vision_end|>", config.vision_end_token},
                                                   {"<|im_end|>", config.eos_token}};
  for (const auto& [text, id] : pairs) {
    if (std::optional<Error> wrong = check_token(tokenizer, text, id, directory)) return wrong;
  }
  return std::nullopt;
}

}  // namespace

Result<Job> open_job(const Sizing& sizing) {
  Result<ModelConfig> config = read_model_config(sizing.model_directory);
  if (!config) return config.error();
  if (const auto found = check_targets(config.value(), sizing.model.lora); !found) {
    return found.error();
  }
  Result<Tokenizer> tokenizer = Tokenizer::read(sizing.model_directory / "tokenizer.json");
  if (!tokenizer) return tokenizer.error();
  if (std::optional<Error> wrong =
          check_tokens(config.value(), tokenizer.value(), sizing.model_directory)) {
    return *wrong;
  }
  Result<Dataset> dataset = Dataset::open(sizing.dataset, sizing.dataset_options);
  if (!dataset) return dataset.error();
  std::optional<Dataset> eval;
  if (!sizing.eval_dataset.empty()) {
    Result<Dataset> opened = Dataset::open(sizing.eval_dataset, sizing.dataset_options);
    if (!opened) return opened.error();
    eval = std::move(opened.value());
  }
  LoaderOptions loader = sizing.loader;
  loader.processor.patch_size = config.value().vision.patch_size;
  loader.processor.merge_size = config.value().vision.merge_size;
  const Result<ProcessorOptions> processor =
      read_processor(sizing.model_directory, loader.processor, sizing.pixels);
  if (!processor) return processor.error();
  loader.processor = processor.value();
  if (sizing.checks_template) {
    const auto same = check_chat_template(sizing.model_directory);
    if (!same) return same.error();
  }
  loader.pad_token = tokenizer.value().id_of("<|endoftext|>").value_or(0);
  return Job{.config = std::move(config.value()),
             .tokenizer = std::move(tokenizer.value()),
             .dataset = std::move(dataset.value()),
             .eval_dataset = std::move(eval),
             .loader = loader};
}

Result<Planned> plan_job(const Job& job, const Sizing& sizing, int64_t threads) {
  Result<DataShapes> shapes =
      measure_shapes(job.dataset, job.tokenizer, job.loader, kExamplesLookedAt);
  if (!shapes) return shapes.error();
  Planned out;
  out.shapes = shapes.value();
  ExampleShape evaluation;
  if (job.eval_dataset) {
    const Result<DataShapes> eval =
        measure_shapes(*job.eval_dataset, job.tokenizer, job.loader, kExamplesLookedAt);
    if (!eval) return eval.error();
    evaluation = eval.value().largest;
  }
  out.request = {.config = job.config,
                 .model = sizing.model,
                 .is_8bit_optimizer = sizing.optimizer == OptimizerKind::adamw_8bit,
                 .batch_size = sizing.loader.batch_size,
                 .largest = out.shapes.largest,
                 .evaluation = evaluation,
                 .new_tokens = sizing.eval_answers > 0 ? sizing.max_new_tokens : 0,
                 .workers = sizing.loader.workers,
                 .queue = sizing.loader.queue,
                 .threads = threads,
                 .examples = static_cast<int64_t>(out.shapes.examples),
                 .vocabulary = job.tokenizer.size(),
                 .kept_bytes = sizing.dataset_options.keep_decoded ? out.shapes.decoded_bytes : 0};
  if (sizing.packs) {
    PackedShapes packed = pack_dataset(job.dataset, job.tokenizer, job.loader, threads);
    out.packs = std::move(packed.packs);
    out.request.packed = packed.largest_row;
    out.request.packed_rows = static_cast<int64_t>(out.packs->rows());
  }
  if (sizing.packs && job.eval_dataset) {
    PackedShapes packed = pack_dataset(*job.eval_dataset, job.tokenizer, job.loader, threads);
    out.eval_packs = std::move(packed.packs);
    out.request.packed_evaluation = packed.largest_row;
  }
  const Result<std::optional<PeerOptions>> peers = peer_options_from_environment();
  if (!peers) return peers.error();
  if (peers.value()) {
    out.request.peer_bucket_bytes = static_cast<int64_t>(peers.value()->bucket_bytes);
  }
  out.request.model.lora = narrowed(job.config, sizing.model.lora);
  out.plan = make_plan(out.request);
  return out;
}

}  // namespace plateau::train
