// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "base/text.h"
#include "base/units.h"
#include "dataset/picture_fit.h"
#include "dataset/survey.h"
#include "plan/plan_json.h"

namespace plateau {
namespace {

// Words and values of a choice, from the enum's own words, up to `last`.
template <typename Kind>
Kind kind_named(const std::string& word, Kind last) {
  for (size_t i = 0; i <= static_cast<size_t>(last); ++i) {
    if (word == word_of(static_cast<Kind>(i))) return static_cast<Kind>(i);
  }
  return static_cast<Kind>(0);
}
template <typename Kind>
std::vector<std::string> words_up_to(Kind last) {
  std::vector<std::string> words;
  for (size_t i = 0; i <= static_cast<size_t>(last); ++i)
    words.emplace_back(word_of(static_cast<Kind>(i)));
  return words;
}

constexpr double kMostTokens = 1e9;
constexpr double kMostBatch = 1e6;

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::string_view part = trim(take_part(list, ','));
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

class RequestReader {
 public:
  explicit RequestReader(const Arguments& arguments) : arguments_(arguments) {}

  Result<PlanRequest> read() {
    if (Result<void> done = read_model(); !done) return done.error();
    read_stack();
    if (Result<void> done = read_sizes(); !done) return done.error();
    if (Result<void> done = read_pictures(); !done) return done.error();
    if (Result<void> done = read_data(); !done) return done.error();
    if (Result<void> done = check(); !done) return done.error();
    return std::move(out_);
  }

 private:
  TrainingSetup& setup() { return out_.setup; }

  Result<void> read_model() {
    const std::string& path = arguments_.positionals.front();
    Result<ModelShape> shape = read_model_shape(path);
    if (!shape) return shape.error();
    out_.model.shape = std::move(shape.value());
    out_.model.weights = count_weights(out_.model.shape);
    Result<std::optional<StoredWeights>> stored = count_stored_weights(path);
    if (!stored) return stored.error();
    out_.model.stored = stored.value();
    drop_weights_of_another_model();
    if (out_.model.stored && out_.model.stored->is_packed) {
      out_.assumptions.push_back(
          "the weight files are quantised: counted from config.json instead");
    }
    return {};
  }

  // Files that hold a fifth more or less than config.json describes are not this model's.
  void drop_weights_of_another_model() {
    const std::optional<StoredWeights>& stored = out_.model.stored;
    if (!stored || stored->is_packed) return;
    const double total = out_.model.weights.total;
    if (std::abs(stored->parameters - total) <= 0.2 * total) return;
    out_.assumptions.push_back(fmt::format(
        "the weight files hold {:.0f} M values, config.json describes {:.0f} M: counted "
        "from config.json",
        stored->parameters / 1e6, total / 1e6));
    out_.model.stored.reset();
  }

  template <typename Kind>
  void take(std::string_view name, Kind& kind, Kind last) {
    if (const auto word = arguments_.text(name)) kind = kind_named(*word, last);
  }

  void read_stack() {
    take("for", setup().stack, TrainingStack::unsloth);
    take("device", setup().device, TrainingDevice::cuda);
    const bool is_gpu = setup().device == TrainingDevice::cuda;
    if (setup().stack == TrainingStack::unsloth) {
      setup().method = TrainingMethod::qlora;
      setup().checkpointing = Checkpointing::offload;
    } else if (setup().stack == TrainingStack::trl) {
      setup().checkpointing = Checkpointing::on;  // SFTConfig's default.
    }
    const std::string& stored = out_.model.shape.dtype;
    setup().dtype = stored == "float32" || (stored.empty() && !is_gpu) ? Precision::fp32
                    : stored == "float16"                              ? Precision::fp16
                                                                       : Precision::bf16;
    take("method", setup().method, TrainingMethod::qlora);
    take("optimizer", setup().optimizer, OptimizerKind::sgd);
    take("attention", setup().attention, AttentionKind::flash);
    take("dtype", setup().dtype, Precision::fp16);
    take("sharding", setup().sharding, ShardingKind::fsdp);
    take("checkpointing", setup().checkpointing, Checkpointing::offload);
    take("dataset", setup().dataset, DatasetPlace::decoded);
    setup().has_autocast = is_gpu;
    if (const auto word = arguments_.text("autocast")) setup().has_autocast = *word == "on";
    setup().targets = split(arguments_.text("targets").value_or("all-linear"));
    setup().freezes_vision = arguments_.has("freeze-vision");
    setup().double_quant = !arguments_.has("no-double-quant");
    setup().pins_memory = !arguments_.has("no-pin");
    setup().saves_checkpoints = !arguments_.has("no-save");
  }

  Result<void> take_count(std::string_view name, int64_t& into, double most) {
    const std::optional<double> number = arguments_.number(name);
    if (!number) return {};
    if (*number > most) return usage_error(fmt::format("--{} is {} at most", name, most));
    into = static_cast<int64_t>(*number);
    return {};
  }

  Result<void> read_sizes() {
    struct Row {
      const char* name;
      int64_t& into;
      double most;
    };
    setup().ranks_here = 0;
    const std::array<Row, 10> rows = {{{"rank", setup().rank, 1e6},
                                       {"tokens", setup().tokens, kMostTokens},
                                       {"batch", setup().batch, kMostBatch},
                                       {"accumulation", setup().accumulation, 1e9},
                                       {"ranks", setup().ranks, 1e6},
                                       {"ranks-here", setup().ranks_here, 1e4},
                                       {"workers", setup().workers, 1e5},
                                       {"prefetch", setup().prefetch, 1e6},
                                       {"pictures", setup().pictures, 1e5},
                                       {"examples", setup().examples, 1e12}}};
    for (const Row& row : rows) {
      if (Result<void> done = take_count(row.name, row.into, row.most); !done) return done;
    }
    if (setup().ranks_here == 0) setup().ranks_here = std::min<int64_t>(setup().ranks, 8);
    if (!arguments_.has("tokens") && !arguments_.has("data")) {
      out_.assumptions.push_back("2,048 tokens an example: --tokens or -d says otherwise");
    }
    return {};
  }

  Result<void> read_pictures() {
    const ModelShape& shape = out_.model.shape;
    const std::optional<std::string> text = arguments_.text("picture");
    if (!text) return {};
    if (!shape.vision) return usage_error("--picture: this model has no vision tower");
    std::string_view rest = *text;
    const std::optional<int64_t> width = parse_int(take_part(rest, 'x'));
    const std::optional<int64_t> height = parse_int(rest);
    if (!width || !height || *width < 1 || *height < 1 || *width > 100'000 || *height > 100'000) {
      return usage_error("--picture takes WIDTHxHEIGHT in pixels, such as 1024x768");
    }
    const Result<PixelLimits> limits = read_pixel_limits(arguments_.positionals.front(), shape);
    if (!limits) return limits.error();
    const PictureCost cost = picture_cost(*shape.vision, limits.value(), *width, *height);
    setup().pictures = std::max<int64_t>(1, setup().pictures);
    setup().picture_pixels = *width * *height;
    setup().resized_pixels = cost.pixels;
    setup().patches = cost.patches * setup().pictures;
    picture_tokens_ = cost.tokens * setup().pictures;
    return {};
  }

  // The largest of each figure that the dataset has, in place of what no option gave.
  Result<void> read_data() {
    const std::optional<std::string> path = arguments_.text("data");
    if (!path) return {};
    SurveyOptions options;
    options.shape = &out_.model.shape;
    const Result<PixelLimits> limits =
        read_pixel_limits(arguments_.positionals.front(), out_.model.shape);
    if (!limits) return limits.error();
    options.limits = limits.value();
    options.most_examples = 2'000;
    const Result<Survey> survey = survey_dataset(*path, options);
    if (!survey) return survey.error();
    const Survey& found = survey.value();
    if (!arguments_.has("tokens"))
      setup().tokens = static_cast<int64_t>(std::ceil(found.tokens.largest));
    if (!arguments_.has("picture") && found.pictures > 0) {
      setup().pictures = found.most_pictures;
      setup().patches = found.most_patches;
      setup().picture_pixels = found.largest_pixels;
      setup().resized_pixels = found.largest_resized;
      setup().decoded_bytes = found.decoded_bytes / 3 * 4;
    }
    if (!arguments_.has("examples")) setup().examples = static_cast<int64_t>(found.examples);
    setup().dataset_bytes = found.text_bytes;
    out_.assumptions.push_back(
        fmt::format("the longest of {} examples looked at has {} tokens ({})",
                    format_count(static_cast<int64_t>(found.looked_at)),
                    format_count(static_cast<int64_t>(found.tokens.largest)), found.token_source));
    return {};
  }

  Result<void> check() {
    if (picture_tokens_ > setup().tokens) {
      return usage_error(fmt::format("{} tokens are fewer than the pictures of an example need: {}",
                                     setup().tokens, picture_tokens_));
    }
    if (setup().sharding != ShardingKind::none && setup().ranks < 2) {
      return usage_error("--sharding needs --ranks of at least 2");
    }
    if (setup().method == TrainingMethod::qlora && setup().device == TrainingDevice::cpu) {
      return usage_error("--method qlora is planned for --device cuda only");
    }
    if (setup().stack == TrainingStack::unsloth && setup().device == TrainingDevice::cpu) {
      return usage_error("Unsloth trains on GPUs only: --device cuda");
    }
    if (setup().method != TrainingMethod::full) {
      const bool any = std::ranges::any_of(out_.model.weights.kinds, [&](const WeightKind& kind) {
        return is_target(kind, setup().targets);
      });
      if (!any) return usage_error("--targets names no linear layer of this model");
    }
    return {};
  }

  const Arguments& arguments_;
  PlanRequest out_;
  int64_t picture_tokens_ = 0;
};

}  // namespace

Options plan_options() {
  std::vector<std::string> stacks = words_up_to(TrainingStack::unsloth);
  stacks.emplace_back("plateau");
  return together(
      {grouped(
           "Training program",
           {choice("for", "PROGRAM", stacks,
                   "Trainer to plan for: transformers' Trainer (default), TRL's SFTTrainer, "
                   "Unsloth, or Plateau's own."),
            choice("device", "D", words_up_to(TrainingDevice::cuda),
                   "Device that computes: cuda (default) or cpu."),
            choice("method", "M", words_up_to(TrainingMethod::qlora),
                   "Method: full, lora or qlora (NF4) (default full; for Unsloth, qlora)."),
            option("rank", Takes::count, "R", "Rank of LoRA adapters (default 16)."),
            option("targets", Takes::text, "LIST",
                   "Modules with adapters, as peft matches them: q_proj,v_proj (default "
                   "all-linear)."),
            flag("freeze-vision", "Do not train the vision tower."),
            flag("no-double-quant", "QLoRA without nested scales."),
            choice("optimizer", "O", words_up_to(OptimizerKind::sgd), "Optimizer (default adamw)."),
            choice("checkpointing", "C", words_up_to(Checkpointing::offload),
                   "Gradient checkpointing: off, on, or offload (Unsloth's: layer inputs in "
                   "host RAM). Default: off for transformers, on for TRL, offload for "
                   "Unsloth."),
            choice("attention", "A", words_up_to(AttentionKind::flash),
                   "Attention implementation (default sdpa)."),
            choice("dtype", "T", words_up_to(Precision::fp16),
                   "Data type of the weights (default: as in config.json)."),
            choice("autocast", "WHEN", {"on", "off"},
                   "The Trainer's bf16=True or fp16=True (default: on with cuda).")}),
       grouped(
           "Sizes",
           {option("tokens", Takes::count, "N",
                   "Tokens of the longest example, including those of its pictures."),
            option("batch", Takes::count, "N", "Examples per batch on each device (default 1)."),
            option("accumulation", Takes::count, "N", "Batches per optimizer step (default 1)."),
            option("picture", Takes::text, "WxH", "Size of a picture in pixels, as stored."),
            option("pictures", Takes::count, "N", "Pictures per example (default 1)."),
            option("ranks", Takes::count, "N", "Processes that train together (default 1)."),
            option("ranks-here", Takes::count, "N",
                   "How many of them run on this host (default: all, at most 8)."),
            choice("sharding", "S", words_up_to(ShardingKind::fsdp),
                   "What is sharded over the ranks (default none).")}),
       grouped(
           "Data on the host",
           {option("data", Takes::file, "FILE",
                   "Take the sizes from this dataset; see 'plateau check-data'.", 'd'),
            option("workers", Takes::index, "N", "DataLoader workers (default 0)."),
            option("prefetch", Takes::count, "N",
                   "Batches that each worker prepares ahead (default 2)."),
            flag("no-pin", "Plan without pinned memory."),
            choice("dataset", "PLACE", words_up_to(DatasetPlace::decoded),
                   "Where examples are kept: mapped files (default), a list in memory, or such a "
                   "list whose pictures stay decoded once used."),
            option("examples", Takes::count, "N", "Examples in the dataset, without -d."),
            flag("no-save", "Plan for a run that never writes a checkpoint.")})});
}

Result<PlanRequest> plan_request_of(const Arguments& arguments) {
  return RequestReader(arguments).read();
}

Result<std::vector<std::string>> trainer_words(const Arguments& arguments) {
  struct Row {
    std::string_view ours;
    std::string_view theirs;
  };
  constexpr std::array<Row, 7> kRows = {{{"tokens", "--tokens"},
                                         {"batch", "--batch-size"},
                                         {"accumulation", "--gradient-accumulation-steps"},
                                         {"rank", "--lora-r"},
                                         {"data", "-d"},
                                         {"workers", "--workers"},
                                         {"fit", "--limit"}}};
  const std::filesystem::path model = arguments.positionals.front();
  const bool is_file = model.filename() == "config.json";
  std::vector<std::string> words = {
      "-m", is_file ? (model.parent_path() / ".").string() : model.string()};
  for (const auto& [name, value] : arguments.options) {
    if (name == "for") continue;
    if (name == "json") {
      words.emplace_back("--json");
      continue;
    }
    if (name == "device") {
      if (value == "cpu") continue;
      return usage_error(
          "--device cuda: GPU memory of Plateau's own trainer is not planned; --for trl plans "
          "TRL's");
    }
    const auto* row = std::ranges::find(kRows, name, &Row::ours);
    if (row == kRows.end()) {
      return usage_error(fmt::format(
          "--{} does not go with --for plateau; 'plateau-train plan --help' lists its options",
          name));
    }
    words.emplace_back(row->theirs);
    words.push_back(value);
  }
  return words;
}

}  // namespace plateau
