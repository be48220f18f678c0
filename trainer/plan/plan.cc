// SPDX-License-Identifier: Apache-2.0
#include "trainer/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "trainer/plan/activations.h"
#include "trainer/store/weight_names.h"

namespace plateau::train {
namespace {

constexpr int64_t kFloat = 4;
constexpr int64_t kMiB = int64_t{1} << 20;
// Measured (docs/plan.md, runtime and rest together): a process with LibTorch 2.13 from PyPI that
// has trained a tiny model, and what each further thread adds.
constexpr int64_t kRuntimeBytes = 136 * kMiB;
constexpr int64_t kRuntimeThreadBytes = 1 * kMiB;
// Measured: what a step that trains all weights holds besides, in small blocks of the C library's
// heap and in buffers of MKL: 5.6 MB for the 36 million of `small`.
constexpr int64_t kWholeWeightsBytes = 6 * kMiB;
// Measured: two processes on one machine, each beside one that trains alone (153 to 154 MB after
// 151 to 152): Gloo's threads, connections and store.
constexpr int64_t kPeersBytes = 2 * kMiB;
// Of the tokenizer's tables, per entry of the vocabulary and its merge.
constexpr int64_t kTokenizerEntryBytes = 220;
constexpr int64_t kExampleBytes = 16;
constexpr int64_t kPackedExampleBytes = 16;  // Which row it is in.
// Patches of one frame; the second frame of a still picture is never stored.
constexpr int64_t kMin8BitElements = 4096;
constexpr int64_t kStateBlock = 256;

int64_t count_of(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t side : shape) count *= side;
  return count;
}

std::string amount(int64_t bytes) {
  return format_mb(static_cast<double>(bytes) / kBytesPerMb);
}

int64_t nf4_bytes(int64_t count, bool nested) {
  const int64_t blocks = (count + 63) / 64;
  return (count + 1) / 2 +
         (nested ? blocks + (blocks + 255) / 256 * kFloat + kFloat : blocks * kFloat);
}

bool is_quantised(const WeightShape& weight) {
  const bool in_block =
      weight.name.starts_with("visual.blocks.") || weight.name.starts_with("model.layers.");
  return in_block && weight.shape.size() == 2;
}

class Planner {
 public:
  explicit Planner(const PlanRequest& request)
      : request_(request),
        row_(request.packed.tokens > 0 ? request.packed : request.largest),
        tokens_(request.batch_size * row_.tokens),
        patches_(request.batch_size * row_.patches) {}

  Plan make() {
    add_base();
    add_trained();
    add_activations();
    add_logits();
    add_data();
    add_evaluation();
    add_peers();
    add_runtime();
    for (const PlanLine& line : plan_.lines) {
      plan_.peak_bytes += line.bytes;
      if (!line.is_transient) plan_.resident_bytes += line.bytes;
    }
    plan_.minimum_ram = plan_.peak_bytes + plan_.peak_bytes / 20;
    plan_.recommended_ram = plan_.peak_bytes + plan_.peak_bytes / 4;
    return plan_;
  }

 private:
  void add(std::string name, int64_t bytes, std::string formula, bool is_transient = false) {
    plan_.lines.push_back({std::move(name), bytes, std::move(formula), is_transient});
  }

  void add_base() {
    const ModelOptions& options = request_.model;
    int64_t bytes = 0;
    int64_t quantised = 0;
    int64_t frozen = 0;
    for (const WeightShape& weight : weight_shapes(request_.config)) {
      const int64_t count = count_of(weight.shape);
      plan_.parameters += count;
      if (is_trained_whole(options, weight.name)) continue;
      frozen += count;
      const bool packs = is_quantised(weight) && options.storage == BaseStorage::nf4;
      quantised += packs ? count : 0;
      const bool is_vector = weight.shape.size() == 1;
      const bool halves = options.storage != BaseStorage::fp32 && !is_vector;
      bytes += packs ? nf4_bytes(count, options.double_quant) : count * (halves ? 2 : kFloat);
    }
    const char* rest = options.storage == BaseStorage::fp32 ? "fp32" : "bf16";
    std::string formula = fmt::format("{} weights in {}", format_count(frozen), rest);
    if (quantised > 0) {
      formula = fmt::format("{} weights in NF4, {} in bf16", format_count(quantised),
                            format_count(plan_.parameters - quantised));
    }
    add("base", bytes, std::move(formula));
  }

  // Sizes of all tensors that are trained.
  [[nodiscard]] std::vector<int64_t> trained_sizes() const {
    std::vector<int64_t> out;
    const LoraOptions& lora = request_.model.lora;
    if (request_.model.trained == Trained::everything) {
      for (const WeightShape& weight : weight_shapes(request_.config)) {
        if (is_trained_whole(request_.model, weight.name)) out.push_back(count_of(weight.shape));
      }
      return out;
    }
    for (const LinearShape& layer : adapter_layers(request_.config, lora)) {
      out.push_back(lora.rank * layer.inputs);
      out.push_back(lora.rank * layer.outputs);
      if (lora.dora) out.push_back(layer.outputs);
    }
    return out;
  }

  void add_trained() {
    int64_t states = 0;
    for (const int64_t count : trained_sizes()) {
      plan_.trainable += count;
      const bool small = count < kMin8BitElements;
      const int64_t blocks = (count + kStateBlock - 1) / kStateBlock;
      states +=
          request_.is_8bit_optimizer && !small ? 2 * (count + blocks * kFloat) : 2 * count * kFloat;
    }
    const std::string trained = format_count(plan_.trainable);
    const LoraOptions& lora = request_.model.lora;
    if (request_.model.trained == Trained::everything) {
      add("trained", plan_.trainable * kFloat, fmt::format("{} weights in fp32", trained));
    } else {
      add("adapters", plan_.trainable * kFloat,
          fmt::format("{} values in fp32, rank {}{}", trained, lora.rank,
                      lora.dora ? ", with lengths of rows" : ""));
    }
    add("gradients", plan_.trainable * kFloat, fmt::format("{} values in fp32", trained));
    add("optimizer", states,
        request_.is_8bit_optimizer ? "two states of 8 bits and a scale for each 256"
                                   : "two states of 32 bits");
  }

  // What a trained embedding and head need on the way back beside their gradients: a new gradient
  // each. Tied, the head's waits for the embedding's, which comes last, and both are added up.
  [[nodiscard]] int64_t table_gradients() const {
    if (!is_trained_whole(request_.model, "model.embed_tokens.weight")) return 0;
    const int64_t table = request_.config.vocab_size * request_.config.hidden_size * kFloat;
    return request_.config.tie_word_embeddings ? 2 * table : table;
  }

  // Of patches whose kernel and merger are trained: what comes in, and the merger's inner values.
  [[nodiscard]] int64_t trained_ends() const {
    if (!is_trained_whole(request_.model, "visual.merger.mlp.0.weight")) return 0;
    return patches_ * (patch_bytes() + request_.config.vision.hidden_size * value());
  }

  [[nodiscard]] int64_t longest_frame() const {
    // A full-attention block sees one picture whole; several pictures share the patches.
    return request_.largest.patches;
  }

  void add_activations() {
    const ModelConfig& config = request_.config;
    const LayerMemory text = text_layer(config, request_.model, tokens_, request_.largest.tokens);
    const LayerMemory vision = vision_layer(config, request_.model, patches_, longest_frame());
    const bool trains_vision = request_.model.lora.vision;
    const int64_t layers = config.layers;
    const int64_t depth = trains_vision ? config.vision.depth : 0;
    const int64_t merged = patches_ / (config.vision.merge_size * config.vision.merge_size);
    // Features of the pictures, the merger's inner ones, and the embeddings they are put into.
    const int64_t between =
        (trains_vision ? patches_ * 2 * config.vision.hidden_size : 0) * value() +
        (merged + 2 * tokens_) * config.hidden_size * value() + trained_ends() + table_gradients();
    // The way back goes through the text first, while the vision tower keeps what it needs, and
    // then through the tower, when nothing of the text is left.
    const int64_t tower = trains_vision ? vision.kept : 0;
    plan_.activations_with_checkpointing =
        between + depth * vision.input +
        std::max(layers * text.input + text.kept + text.working, tower + vision.working);
    plan_.activations_without_checkpointing =
        between + depth * vision.kept + std::max(layers * text.kept + text.working, vision.working);
    const bool checkpoints = request_.model.gradient_checkpointing;
    const std::string formula = fmt::format(
        "{} text layers x {} tokens{}{}", layers, format_count(tokens_),
        depth > 0 ? fmt::format(", {} vision layers x {} patches", depth, format_count(patches_))
                  : "",
        checkpoints
            ? fmt::format("; {} without checkpointing",
                          amount(plan_.activations_without_checkpointing))
            : fmt::format("; {} with checkpointing", amount(plan_.activations_with_checkpointing)));
    add("activations",
        checkpoints ? plan_.activations_with_checkpointing
                    : plan_.activations_without_checkpointing,
        formula, true);
  }

  [[nodiscard]] int64_t logits_bytes(int64_t labelled_of_one) const {
    const int64_t labelled = request_.batch_size * labelled_of_one;
    const int64_t chunk = std::min(request_.model.loss_chunk, labelled);
    const int64_t head = request_.config.vocab_size * request_.config.hidden_size * kFloat;
    // A head that is not stored in fp32 is widened piece by piece.
    const bool is_bf16 = request_.model.compute == ComputeType::bf16;
    const bool is_stored_so = is_bf16 == (request_.model.storage != BaseStorage::fp32);
    const int64_t widened = is_stored_so ? 0 : std::min(kPieceBytes, head) * value() / kFloat;
    // In bf16 logits are a product in bf16 first, then in fp32, and their gradient the other way.
    return chunk * request_.config.vocab_size * (kFloat + (is_bf16 ? value() : 0)) +
           2 * labelled * request_.config.hidden_size * value() + widened;
  }

  void add_logits() {
    const int64_t labelled = request_.batch_size * row_.labelled;
    const int64_t chunk = std::min(request_.model.loss_chunk, labelled);
    add("logits", logits_bytes(row_.labelled),
        fmt::format("{} of {} labelled positions at a time x {} ids", chunk, format_count(labelled),
                    format_count(request_.config.vocab_size)),
        true);
  }

  void add_data() {
    const int64_t batch = patches_ * patch_bytes() + tokens_ * 17;  // Ids, labels, mask.
    add("images", batch, fmt::format("one batch of {} patches, as loaded", format_count(patches_)),
        true);
    const int64_t ahead = request_.workers > 0 ? request_.workers + request_.queue : 0;
    const int64_t decoding =
        std::max<int64_t>(request_.workers, 1) * request_.largest.picture_bytes;
    add("prefetch", ahead * batch + decoding,
        fmt::format("{} batches ahead, {} pictures being decoded", ahead,
                    std::max<int64_t>(request_.workers, 1)));
    if (request_.kept_bytes > 0) {
      add("kept pictures", request_.kept_bytes, "--keep-decoded: every picture of the dataset");
    }
  }

  [[nodiscard]] int64_t value() const { return value_bytes(request_.model); }

  [[nodiscard]] int64_t patch_bytes() const {
    const VisionConfig& vision = request_.config.vision;
    return vision.patch_values() / vision.temporal_patch_size * kFloat;
  }

  [[nodiscard]] int64_t bytes_of(std::string_view line) const {
    const auto found = std::ranges::find(plan_.lines, line, &PlanLine::name);
    return found == plan_.lines.end() ? 0 : found->bytes;
  }

  // One layer at a time and nothing for a way back. Attention sees `longest` at most.
  [[nodiscard]] int64_t forward_bytes(const ExampleShape& row, const ExampleShape& longest,
                                      int64_t rows) const {
    const ModelConfig& config = request_.config;
    const int64_t tokens = rows * row.tokens;
    const int64_t patches = rows * row.patches;
    const LayerMemory text = text_layer(config, request_.model, tokens, longest.tokens);
    const LayerMemory vision = vision_layer(config, request_.model, patches, longest.patches);
    const int64_t merged = patches / (config.vision.merge_size * config.vision.merge_size);
    return (merged + 2 * tokens) * config.hidden_size * value() +
           std::max(text.input + text.kept + text.working,
                    vision.input + vision.kept + vision.working);
  }

  // Keys and values of every layer for question and answer, those of one layer twice while a token
  // is added, and the question's way through the layers. Questions are answered one by one.
  [[nodiscard]] int64_t generation_bytes(const ExampleShape& shape) const {
    if (request_.new_tokens == 0) return 0;
    const ModelConfig& config = request_.config;
    const int64_t of_a_layer =
        (shape.tokens + request_.new_tokens) * 2 * config.kv_heads * config.head_dim() * value();
    return (config.layers + 1) * of_a_layer + forward_bytes(shape, shape, 1) +
           config.vocab_size * kFloat + shape.patches * patch_bytes();
  }

  // What the evaluation set takes beyond a step of training, which does not run then: perhaps its
  // examples are larger. Its own batches ahead stand beside those of training.
  void add_evaluation() {
    const ExampleShape& shape = request_.evaluation;
    if (shape.tokens == 0) return;
    const ExampleShape& row =
        request_.packed_evaluation.tokens > 0 ? request_.packed_evaluation : shape;
    const int64_t rows = request_.batch_size;
    const int64_t batch = rows * (row.patches * patch_bytes() + row.tokens * 17);
    const int64_t ahead = request_.workers > 0 ? request_.workers + request_.queue : 0;
    const int64_t decoding =
        std::max<int64_t>(request_.workers, 1) *
        std::max<int64_t>(shape.picture_bytes - request_.largest.picture_bytes, 0);
    const int64_t needed =
        std::max(forward_bytes(row, shape, rows) + logits_bytes(row.labelled) + batch,
                 generation_bytes(shape));
    const int64_t step = bytes_of("activations") + bytes_of("logits") + bytes_of("images");
    add("evaluation", std::max<int64_t>(needed - step, 0) + ahead * batch + decoding,
        fmt::format("beyond a step of training: {} of up to {} tokens, {} patches{}",
                    request_.packed_evaluation.tokens > 0 ? "rows" : "examples",
                    format_count(row.tokens), format_count(row.patches),
                    request_.new_tokens > 0
                        ? fmt::format(", answers of {} tokens", format_count(request_.new_tokens))
                        : ""),
        true);
  }

  // Gradients are copied into a bucket to be added (trainer/loop/distributed.h).
  void add_peers() {
    if (request_.peer_bucket_bytes == 0) return;
    const int64_t bucket = std::min(plan_.trainable * kFloat, request_.peer_bucket_bytes);
    const int64_t step = bytes_of("activations") + bytes_of("logits") + bytes_of("images");
    add("peers", kPeersBytes + std::max<int64_t>(bucket - step, 0),
        "Gloo between processes, buckets of gradients beyond a step of training", true);
  }

  void add_runtime() {
    const int64_t vocabulary =
        request_.vocabulary > 0 ? request_.vocabulary : request_.config.vocab_size;
    const bool is_packed = request_.packed.tokens > 0;
    const int64_t bytes =
        kRuntimeBytes + (request_.threads - 1) * kRuntimeThreadBytes +
        (request_.model.trained == Trained::everything ? kWholeWeightsBytes : 0) +
        vocabulary * kTokenizerEntryBytes +
        request_.examples * (kExampleBytes + (is_packed ? kPackedExampleBytes : 0));
    add("runtime", bytes,
        fmt::format("LibTorch and BLAS with {} threads, tokenizer, offsets of {} examples",
                    request_.threads, format_count(request_.examples)));
  }

  const PlanRequest& request_;
  ExampleShape row_;  // Of a batch: one example, or several.
  int64_t tokens_;
  int64_t patches_;
  Plan plan_;
};

}  // namespace

Plan make_plan(const PlanRequest& request) {
  return Planner(request).make();
}

}  // namespace plateau::train
