// SPDX-License-Identifier: Apache-2.0
// Reads config.json in all its spellings, and refuses sizes that no model can have.
//
// A key of the text model may stand at the top (the hub's files), inside text_config (newer
// versions), or in both; all places are read, and two answers that differ are an error, because
// either could be the one that the weights were made with. A size is checked twice: alone, against
// a generous limit, so that no later product of sizes can overflow, and against the sizes that it
// has to fit.
#include "trainer/store/model_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <simdjson.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <set>

#include "trainer/store/config_check.h"

namespace plateau::train {
namespace {

namespace dom = simdjson::dom;
using Keys = std::initializer_list<std::string_view>;

constexpr int64_t kMaxWidth = int64_t{1} << 20;
constexpr int64_t kMaxLayers = 4096;
constexpr int64_t kMaxVocabulary = int64_t{1} << 24;

// An object of the file, and how its keys are called in messages.
struct Place {
  std::string prefix;
  dom::object object;
};

// Answers questions about the keys of some places; the first without a good answer is the error.
class ConfigQuestions {
 public:
  ConfigQuestions(std::vector<Place> places, std::optional<std::string>& error)
      : places_(std::move(places)), error_(error) {}

  // The same places and, first in line, the objects called `key` in them.
  [[nodiscard]] std::vector<Place> inside(std::string_view key) const {
    std::vector<Place> inner;
    for (const Place& place : places_) {
      dom::object object;
      if (place.object[key].get(object) != simdjson::SUCCESS) continue;
      inner.push_back({fmt::format("{}{}.", place.prefix, key), object});
    }
    return inner;
  }
  [[nodiscard]] const std::vector<Place>& places() const { return places_; }

  void fail(std::string message) {
    if (!error_) error_ = std::move(message);
  }

  // The one value that the keys, which mean the same, have in all places; null is absent.
  template <typename T>
  std::optional<T> maybe(Keys keys, std::string_view kind) {
    std::optional<T> answer;
    std::string first;
    for (const Place& place : places_) {
      for (const std::string_view key : keys) {
        dom::element element;
        if (place.object[key].get(element) != simdjson::SUCCESS || element.is_null()) continue;
        const std::string name = place.prefix + std::string(key);
        T value{};
        if (element.get(value) != simdjson::SUCCESS) {
          fail(fmt::format("\"{}\" is not {}", name, kind));
        } else if (answer && *answer != value) {
          fail(fmt::format("\"{}\" and \"{}\" differ, and either may be right", first, name));
        } else if (!answer) {
          first = name;
          answer = value;
        }
      }
    }
    return answer;
  }

  template <typename T>
  T needed(Keys keys, std::string_view kind) {
    const std::optional<T> answer = maybe<T>(keys, kind);
    if (!answer) missing(fmt::format("{}", fmt::join(keys, "\" or \"")));
    return answer.value_or(T{});
  }

  int64_t size(Keys keys, int64_t limit) {
    const auto value = needed<int64_t>(keys, "a whole number");
    if (value <= 0 || value > limit) {
      fail(fmt::format("\"{}\" is {}, expected 1 to {}", *keys.begin(), value, limit));
    }
    return value;
  }

  double number(std::string_view key) { return needed<double>({key}, "a number"); }
  int64_t token(std::string_view key) { return needed<int64_t>({key}, "a whole number"); }

  // The first array of whole numbers among the places.
  std::vector<int64_t> list(std::string_view key) {
    std::vector<int64_t> values;
    for (const Place& place : places_) {
      dom::array array;
      if (place.object[key].get(array) != simdjson::SUCCESS) continue;
      for (const dom::element element : array) {
        int64_t value = 0;
        if (element.get(value) != simdjson::SUCCESS) {
          fail(fmt::format("\"{}{}\" holds more than whole numbers", place.prefix, key));
        }
        values.push_back(value);
      }
      return values;
    }
    missing(fmt::format("{}\", an array of whole numbers, \"", key));
    return values;
  }

  // A value that, if it is there at all, must be one of `allowed`.
  template <typename T>
  void expect(std::string_view key, std::initializer_list<T> allowed, std::string_view kind) {
    const std::optional<T> value = maybe<T>({key}, kind);
    if (value && std::find(allowed.begin(), allowed.end(), *value) == allowed.end()) {
      fail(fmt::format("\"{}\" is {}, supported is only {}", key, *value,
                       fmt::join(allowed, " or ")));
    }
  }
  void expect_word(std::string_view key, Keys allowed) { expect(key, allowed, "a string"); }

 private:
  void missing(std::string_view key) {
    const std::string prefix = places_.empty() ? "" : places_.back().prefix;
    fail(fmt::format("has no key \"{}{}\"", prefix, key));
  }

  std::vector<Place> places_;
  std::optional<std::string>& error_;
};

std::vector<Place> joined(std::vector<Place> first, const std::vector<Place>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

void read_rope(ConfigQuestions& text, std::optional<std::string>& error, ModelConfig& config) {
  // The base of the angles stood beside rope_scaling; rope_parameters has it inside.
  ConfigQuestions rope(joined(text.inside("rope_scaling"), text.inside("rope_parameters")), error);
  if (rope.places().empty()) {
    text.fail("has no key \"rope_scaling\" or \"rope_parameters\"");
    return;
  }
  rope.expect_word("type", {"mrope", "default"});
  rope.expect_word("rope_type", {"mrope", "default"});
  const std::vector<int64_t> sections = rope.list("mrope_section");
  if (sections.size() != config.mrope_section.size()) {
    rope.fail(fmt::format("\"mrope_section\" has {} numbers, expected 3", sections.size()));
    return;
  }
  std::copy(sections.begin(), sections.end(), config.mrope_section.begin());
  ConfigQuestions everywhere(joined(rope.places(), text.places()), error);
  config.rope_theta = everywhere.number("rope_theta");
}

void read_text(ConfigQuestions& text, ModelConfig& config) {
  text.expect_word("hidden_act", {"silu"});
  text.expect<bool>("use_sliding_window", {false}, "true or false");
  config.hidden_size = text.size({"hidden_size"}, kMaxWidth);
  config.intermediate_size = text.size({"intermediate_size"}, kMaxWidth);
  config.layers = text.size({"num_hidden_layers"}, kMaxLayers);
  config.heads = text.size({"num_attention_heads"}, kMaxWidth);
  config.kv_heads = text.size({"num_key_value_heads"}, kMaxWidth);
  config.vocab_size = text.size({"vocab_size"}, kMaxVocabulary);
  config.tie_word_embeddings = text.needed<bool>({"tie_word_embeddings"}, "true or false");
  config.rms_norm_eps = text.number("rms_norm_eps");
  config.image_token = text.token("image_token_id");
  config.video_token = text.token("video_token_id");
  config.vision_start_token = text.token("vision_start_token_id");
  config.vision_end_token = text.token("vision_end_token_id");
  config.bos_token = text.maybe<int64_t>({"bos_token_id"}, "a whole number").value_or(-1);
  config.eos_token = text.maybe<int64_t>({"eos_token_id"}, "a whole number").value_or(-1);
  const std::optional<int64_t> head_dim = text.maybe<int64_t>({"head_dim"}, "a whole number");
  if (head_dim && config.heads > 0 && *head_dim != config.head_dim()) {
    text.fail(fmt::format("\"head_dim\" is {}, supported is only hidden_size / heads", *head_dim));
  }
}

void read_vision(ConfigQuestions& keys, VisionConfig& vision) {
  keys.expect_word("hidden_act", {"silu"});
  vision.depth = keys.size({"depth"}, kMaxLayers);
  vision.hidden_size = keys.size({"hidden_size"}, kMaxWidth);
  vision.intermediate_size = keys.size({"intermediate_size"}, kMaxWidth);
  vision.heads = keys.size({"num_heads"}, kMaxWidth);
  vision.in_channels = keys.size({"in_chans", "in_channels"}, 64);
  vision.patch_size = keys.size({"patch_size"}, 1024);
  vision.temporal_patch_size = keys.size({"temporal_patch_size"}, 64);
  vision.merge_size = keys.size({"spatial_merge_size"}, 64);
  vision.window_size = keys.size({"window_size"}, kMaxWidth);
  vision.out_hidden_size = keys.size({"out_hidden_size"}, kMaxWidth);
  vision.full_attention_blocks = keys.list("fullatt_block_indexes");
  vision.tokens_per_second = keys.number("tokens_per_second");
}

}  // namespace

Result<ModelConfig> parse_model_config(std::string_view json, const std::string& file) {
  const auto bad = [&](std::string_view what) {
    return Error{Error::Kind::bad_input, fmt::format("{}: {}", file, what)};
  };
  const simdjson::padded_string padded(json);
  dom::parser parser;
  dom::object root;
  const auto failed = parser.parse(padded).get(root);
  if (failed != simdjson::SUCCESS) {
    return bad(fmt::format("not a JSON object: {}", simdjson::error_message(failed)));
  }
  std::optional<std::string> error;
  ConfigQuestions top({{"", root}}, error);
  top.expect_word("model_type", {"qwen2_5_vl"});
  ConfigQuestions text(joined(top.places(), top.inside("text_config")), error);
  ConfigQuestions vision(top.inside("vision_config"), error);
  if (vision.places().empty()) top.fail("has no key \"vision_config\"");

  ModelConfig config;
  read_text(text, config);
  read_rope(text, error, config);
  read_vision(vision, config.vision);
  if (!error) error = config_contradiction(config);
  if (error) return bad(*error);
  return config;
}

Result<ModelConfig> read_model_config(const std::filesystem::path& model_directory) {
  const std::filesystem::path path = model_directory / "config.json";
  simdjson::padded_string text;
  const auto failed = simdjson::padded_string::load(path.string()).get(text);
  if (failed != simdjson::SUCCESS) {
    return Error{Error::Kind::not_found,
                 fmt::format("{}: cannot be read: is this a model directory?", path.string())};
  }
  return parse_model_config(text, path.string());
}

}  // namespace plateau::train
