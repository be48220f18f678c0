// SPDX-License-Identifier: Apache-2.0
// A case anyone can run: a small model that knows nothing, and pictures to learn from.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "base/json_writer.h"
#include "base/units.h"
#include "command/exit_code.h"
#include "trainer/cli/random_weights.h"
#include "trainer/cli/verbs.h"
#include "trainer/data/picture_maker.h"
#include "trainer/store/model_config.h"
#include "trainer/text/tokenizer.h"
#include "trainer/text/tokenizer_writer.h"

namespace plateau::train {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kEvalSeed = uint64_t{1} << 40;  // Far from the training examples' seeds.

struct InitRequest {
  fs::path directory;
  std::string preset = "tiny";
  int64_t examples = 2400;
  int64_t eval_examples = 96;
  uint64_t seed = 42;
  int64_t side = 56;
};

Result<std::monostate> write_whole(const fs::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file) return std::monostate{};
  return Error{.message = fmt::format("{}: cannot be written", path.string())};
}

Result<std::monostate> write_bytes(const fs::path& path, const std::vector<std::byte>& bytes) {
  return write_whole(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// Lines of the dataset; pictures go beside it. `texts` gets what the tokenizer is to learn.
Result<std::monostate> write_examples(const InitRequest& request, const std::string& name,
                                      uint64_t first_seed, int64_t count,
                                      std::vector<std::string>& texts) {
  const fs::path pictures = request.directory / "pictures";
  std::string lines;
  for (int64_t i = 0; i < count; ++i) {
    const Result<ShapeExample> made =
        make_shape_example(first_seed + static_cast<uint64_t>(i), {.side = request.side});
    if (!made) return made.error();
    const ShapeExample& example = made.value();
    const std::string file = fmt::format("{}-{:05}.{}", name, i, extension_of(example.format));
    const Result<std::monostate> written = write_bytes(pictures / file, example.picture);
    if (!written) return written.error();
    JsonWriter json;
    json.begin_object();
    json.key("text").value(example.question);
    json.key("image").value("pictures/" + file);
    json.key("response").value(example.answer);
    json.end_object();
    lines += json.take() + "\n";
    texts.push_back(example.question);
    texts.push_back(example.answer);
  }
  return write_whole(request.directory / (name + ".jsonl"), lines);
}

// The ids of special tokens follow from the tokenizer that was made.
Result<ModelConfig> config_for(const std::string& preset, const Tokenizer& tokenizer) {
  Result<ModelConfig> config = preset_config(preset);
  if (!config) return config;
  ModelConfig& out = config.value();
  out.image_token = tokenizer.id_of("<|image_pad|>").value_or(0);
  out.video_token = tokenizer.id_of("<|video_pad|>").value_or(0);
  out.vision_start_token = tokenizer.id_of("<|vision_start|>").value_or(0);
  out.vision_end_token = tokenizer.id_of("<|vision_end|>").value_or(0);
  out.bos_token = tokenizer.id_of("<|endoftext|>").value_or(0);
  out.eos_token = tokenizer.id_of("<|im_end|>").value_or(0);
  return config;
}

Result<std::monostate> write_model(const InitRequest& request,
                                   const std::vector<std::string>& texts) {
  const fs::path model = request.directory / "model";
  const Result<ModelConfig> preset = preset_config(request.preset);
  if (!preset) return preset.error();
  const Result<std::string> json = make_tokenizer_json(texts, preset.value().vocab_size);
  if (!json) return json.error();
  const Result<Tokenizer> tokenizer = Tokenizer::parse(json.value(), "tokenizer.json");
  if (!tokenizer) return tokenizer.error();
  const Result<ModelConfig> config = config_for(request.preset, tokenizer.value());
  if (!config) return config.error();
  for (const auto& [name, text] :
       {std::pair<const char*, std::string>{"tokenizer.json", json.value()},
        {"config.json", config_json(config.value())}}) {
    const Result<std::monostate> written = write_whole(model / name, text);
    if (!written) return written.error();
  }
  return write_random_weights(config.value(), request.seed, model / "model.safetensors");
}

Result<std::monostate> write_case(const InitRequest& request) {
  std::error_code error;
  fs::create_directories(request.directory / "model", error);
  fs::create_directories(request.directory / "pictures", error);
  if (error) {
    return Error{.message = fmt::format("{}: {}", request.directory.string(), error.message())};
  }
  std::vector<std::string> texts = {"You are a helpful assistant.", "system", "user", "assistant"};
  Result<std::monostate> written =
      write_examples(request, "train", request.seed, request.examples, texts);
  if (!written) return written;
  written = write_examples(request, "eval", kEvalSeed + request.seed, request.eval_examples, texts);
  if (!written) return written;
  return write_model(request, texts);
}

int run_init(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  InitRequest request;
  const std::optional<std::string> directory = arguments.text("output-dir");
  if (!directory) return complain(invocation, "--output-dir is missing");
  request.directory = *directory;
  request.preset = arguments.text("preset").value_or(request.preset);
  request.examples = static_cast<int64_t>(arguments.number("examples").value_or(2400));
  request.eval_examples = static_cast<int64_t>(arguments.number("eval-examples").value_or(96));
  request.seed = static_cast<uint64_t>(arguments.number("seed").value_or(42));
  request.side = static_cast<int64_t>(arguments.number("side").value_or(56));
  std::error_code ignored;
  if (fs::exists(request.directory, ignored) && !fs::is_empty(request.directory, ignored) &&
      !arguments.has("force")) {
    return complain(invocation, fmt::format("{} is not empty; use --force to write into it anyway",
                                            request.directory.string()));
  }
  const Result<std::monostate> written = write_case(request);
  if (!written) return complain(invocation, written.error().message);
  invocation.out.print(fmt::format(
      "Wrote {0}/model, {1} training and {2} evaluation examples. Now:\n"
      "  plateau train -m {0}/model -d {0}/train.jsonl --eval-dataset {0}/eval.jsonl -o {0}/out "
      "--load-in-32bit --use-gradient-checkpointing false --batch-size 8 "
      "--gradient-accumulation-steps 1 --max-steps 600 --learning-rate 1e-3 --lora-alpha 64 "
      "--lr-scheduler-type linear --eval-steps 150\n",
      request.directory.string(), format_count(request.examples),
      format_count(request.eval_examples)));
  return kExitFine;
}

}  // namespace

Verb init_command() {
  Verb verb;
  verb.name = "init";
  verb.program = "plateau-train";
  verb.summary = "write a small model and image dataset to try everything on";
  verb.description = {
      "The model is a small Qwen2.5-VL with random weights and a tokenizer built from the "
      "dataset's text. The images are coloured shapes; the question asks what they show, and the "
      "answer is JSON. The seed determines everything."};
  const auto number = [](std::string name, std::string help) {
    return Option{.name = std::move(name),
                  .takes = Takes::count,
                  .placeholder = "N",
                  .group = "Options",
                  .help = std::move(help)};
  };
  verb.options = {
      {.name = "preset",
       .takes = Takes::choice,
       .placeholder = "NAME",
       .group = "Options",
       .help = "Size of the model: tiny (default) learns in a minute; small is for measuring.",
       .choices = {"tiny", "small"}},
      {.name = "output-dir",
       .letter = 'o',
       .takes = Takes::file,
       .placeholder = "DIR",
       .group = "Options",
       .help = "Directory to write to; must be empty unless --force is given."},
      number("examples", "Number of training examples (default 2400)."),
      number("eval-examples", "Number of evaluation examples (default 96)."),
      number("side", "Side of the square images in pixels, a multiple of 28 (default 56)."),
      number("seed", "Random seed for weights and images (default 42)."),
      {.name = "force", .group = "Options", .help = "Write into a directory that is not empty."}};
  verb.examples = {{"the usual way", "plateau-train init --preset tiny -o tiny"}};
  verb.run = run_init;
  return verb;
}

}  // namespace plateau::train
