// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/adapter.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/json_writer.h"
#include "trainer/loop/durable.h"
#include "trainer/loop/half.h"
#include "trainer/loop/state_json.h"
#include "trainer/loop/tensors.h"
#include "trainer/store/weight_names.h"

namespace plateau::train {
namespace {

constexpr std::string_view kPeftPrefix = "base_model.model.";
constexpr std::string_view kFileName = "adapter_model.safetensors";
constexpr std::string_view kConfigName = "adapter_config.json";
constexpr size_t kShown = 5;

// A module's name in the layout asked for, whichever it is in.
std::string module_name(std::string_view name, AdapterLayout layout) {
  const std::string hub = hub_name(name);
  return layout == AdapterLayout::legacy ? hub : nested_name(hub);
}

std::string shape_of(const TensorView& view) {
  return fmt::format("{} [{}]", name_of(view.dtype), fmt::join(view.shape, ", "));
}

void add(std::vector<std::string>& problems, size_t& count, std::string problem) {
  if (++count <= kShown) problems.push_back(std::move(problem));
}

Error unfit(const std::string& file, std::string_view what) {
  return {.kind = Error::Kind::bad_input, .message = fmt::format("{}: {}", file, what)};
}

bool is_set(const simdjson::dom::element& value) {
  if (value.is_bool()) return bool(value);
  if (value.is_array()) return simdjson::dom::array(value).size() > 0;
  if (value.is_object()) return simdjson::dom::object(value).size() > 0;
  return !value.is_null();
}

// Ways to begin that change the base weights: without those the adapter means something else.
bool moves_the_base(std::string_view start) {
  return start.starts_with("pissa") || start.starts_with("corda") || start == "olora" ||
         start == "loftq" || start == "lora_ga";
}

// What changes the product of A and B, or adds to it, and is not computed here.
std::string unsupported(const simdjson::dom::object& object) {
  constexpr std::string_view kMustBeOff[] = {"fan_in_fan_out",
                                             "use_qalora",
                                             "use_bdlora",
                                             "lora_bias",
                                             "rank_pattern",
                                             "alpha_pattern",
                                             "modules_to_save",
                                             "layer_replication",
                                             "trainable_token_indices",
                                             "target_parameters",
                                             "alora_invocation_tokens",
                                             "arrow_config",
                                             "kasa_config",
                                             "velora_config",
                                             "monteclora_config"};
  for (const auto& [key, value] : object) {
    if (std::ranges::find(kMustBeOff, key) != std::end(kMustBeOff) && is_set(value)) {
      return fmt::format("{} is not supported", key);
    }
    if (!value.is_string()) continue;
    const std::string_view text(value);
    if (key == "bias" && text != "none") return "bias other than \"none\" is not supported";
    if (key == "init_lora_weights" && moves_the_base(text)) {
      return fmt::format(
          "init_lora_weights \"{}\" changed the base weights; save the adapter converted to plain "
          "LoRA (path_initial_model_for_weight_conversion)",
          text);
    }
  }
  return "";
}

}  // namespace

Result<AdapterLayout> parse_adapter_layout(std::string_view name) {
  if (name == "hf452") return AdapterLayout::hf452;
  if (name == "legacy") return AdapterLayout::legacy;
  return Error{Error::Kind::usage, fmt::format("adapter layout \"{}\": hf452 or legacy", name)};
}

double AdapterConfig::scaling() const {
  const auto r = static_cast<double>(rank);
  return rslora ? alpha / std::sqrt(r) : alpha / r;
}

std::string adapter_config_text(const AdapterConfig& config, AdapterLayout layout) {
  JsonWriter json;
  json.begin_object();
  json.key("alpha_pattern").begin_object().end_object();
  json.key("base_model_name_or_path").value(config.base_model);
  json.key("bias").value("none").key("fan_in_fan_out").value(false);
  json.key("inference_mode").value(true).key("init_lora_weights").value(true);
  json.key("lora_alpha").value(config.alpha).key("lora_dropout").value(config.dropout);
  json.key("modules_to_save").null().key("peft_type").value("LORA");
  json.key("r").value(config.rank);
  json.key("rank_pattern").begin_object().end_object();
  json.key("target_modules").begin_array();
  for (const std::string& module : config.target_modules) json.value(module_name(module, layout));
  json.end_array();
  json.key("task_type").value("CAUSAL_LM").key("use_dora").value(config.dora);
  json.key("use_rslora").value(config.rslora).end_object();
  return indented(json.text()) + "\n";
}

Result<AdapterConfig> parse_adapter_config(std::string_view json, const std::string& file) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(json.data(), json.size()).get_object().get(object) != simdjson::SUCCESS) {
    return unfit(file, "not a JSON object");
  }
  AdapterConfig config;
  std::string_view text;
  if (object["peft_type"].get_string().get(text) != simdjson::SUCCESS || text != "LORA") {
    return unfit(file, "peft_type is not \"LORA\"");
  }
  if (const std::string problem = unsupported(object); !problem.empty())
    return unfit(file, problem);
  if (object["r"].get_int64().get(config.rank) != simdjson::SUCCESS || config.rank < 1) {
    return unfit(file, "r is not a rank");
  }
  if (object["lora_alpha"].get_double().get(config.alpha) != simdjson::SUCCESS) {
    return unfit(file, "lora_alpha is not a number");
  }
  // Absent means the value that is there already.
  if (double dropout = 0; object["lora_dropout"].get_double().get(dropout) == simdjson::SUCCESS) {
    config.dropout = dropout;
  }
  if (bool is_on = false; object["use_rslora"].get_bool().get(is_on) == simdjson::SUCCESS) {
    config.rslora = is_on;
  }
  if (bool is_on = false; object["use_dora"].get_bool().get(is_on) == simdjson::SUCCESS) {
    config.dora = is_on;
  }
  if (object["base_model_name_or_path"].get_string().get(text) == simdjson::SUCCESS) {
    config.base_model = text;
  }
  simdjson::dom::array modules;
  if (object["target_modules"].get_array().get(modules) == simdjson::SUCCESS) {
    for (const auto module : modules) {
      if (module.get_string().get(text) == simdjson::SUCCESS)
        config.target_modules.emplace_back(text);
    }
  } else if (object["target_modules"].get_string().get(text) == simdjson::SUCCESS) {
    config.target_modules.emplace_back(text);
  }
  return config;
}

std::string adapter_key(std::string_view key, AdapterLayout layout) {
  if (!key.starts_with(kPeftPrefix)) return std::string(key);
  return std::string(kPeftPrefix) + module_name(key.substr(kPeftPrefix.size()), layout);
}

Result<std::monostate> write_adapter(const std::filesystem::path& directory,
                                     const std::vector<TensorView>& weights,
                                     std::string_view config_json, AdapterLayout layout) {
  std::vector<TensorView> renamed = weights;
  for (TensorView& view : renamed) view.name = adapter_key(view.name, layout);
  auto written = write_safetensors(directory / kFileName, renamed, {{"format", "pt"}});
  if (!written.ok()) return written;
  return write_durably(directory / kConfigName, config_json);
}

Result<std::monostate> save_adapter(const std::filesystem::path& directory,
                                    const std::vector<NamedTensor>& weights,
                                    std::string_view config_json, AdapterLayout layout) {
  auto fresh = NewDirectory::create(directory);
  if (!fresh.ok()) return fresh.error();
  std::vector<TensorView> views;
  std::vector<Tensor> kept;  // What the views look into.
  views.reserve(weights.size());
  for (const NamedTensor& named : weights) {
    kept.push_back(on_host(named.tensor));
    views.push_back(view_of(named.name, kept.back()));
  }
  auto written = write_adapter(fresh.value().path(), views, config_json, layout);
  if (!written.ok()) return written;
  return fresh.value().publish();
}

Result<std::vector<std::string>> adapter_modules(const std::filesystem::path& directory) {
  auto file = SafetensorsFile::open(directory / kFileName);
  if (!file.ok()) return file.error();
  std::set<std::string> modules;
  for (const TensorView& view : file.value().tensors()) {
    const std::string key = adapter_key(view.name, AdapterLayout::legacy);
    const size_t end = key.rfind(".lora_");
    if (!key.starts_with(kPeftPrefix) || end == std::string::npos) {
      return unfit((directory / kFileName).string(),
                   fmt::format("{} is not part of a LoRA adapter", view.name));
    }
    modules.insert(key.substr(kPeftPrefix.size(), end - kPeftPrefix.size()));
  }
  if (modules.empty()) return unfit((directory / kFileName).string(), "no tensors");
  return std::vector<std::string>(modules.begin(), modules.end());
}

Result<std::monostate> load_adapter(const std::filesystem::path& directory,
                                    const std::vector<NamedTensor>& weights) {
  return load_weights(directory / kFileName, weights);
}

Result<std::monostate> load_weights(const std::filesystem::path& file,
                                    const std::vector<NamedTensor>& weights) {
  const auto opened = SafetensorsFile::open(file);
  if (!opened.ok()) return opened.error();
  const std::vector<TensorView>& views = opened.value().tensors();
  return fill_weights(weights, views, file.string(),
                      [&](size_t place) { release_pages(views[place]); });
}

Result<std::monostate> fill_weights(const std::vector<NamedTensor>& weights,
                                    const std::vector<TensorView>& from, const std::string& where,
                                    const std::function<void(size_t)>& copied) {
  std::map<std::string, const TensorView*> by_key;
  for (const TensorView& view : from) {
    by_key.emplace(adapter_key(view.name, AdapterLayout::legacy), &view);
  }
  std::vector<std::string> problems;
  size_t count = 0;
  std::vector<std::pair<Tensor, const TensorView*>> pairs;
  for (const NamedTensor& named : weights) {
    const auto found = by_key.find(adapter_key(named.name, AdapterLayout::legacy));
    if (found == by_key.end()) {
      add(problems, count, fmt::format("{} is missing", named.name));
      continue;
    }
    const TensorView mine = view_of(named.name, named.tensor);
    if (mine.shape != found->second->shape || !can_widen(found->second->dtype)) {
      add(problems, count,
          fmt::format("{} is {}, the model has {}", named.name, shape_of(*found->second),
                      shape_of(mine)));
    }
    pairs.emplace_back(named.tensor, found->second);
    by_key.erase(found);
  }
  for (const auto& [key, view] : by_key) {
    add(problems, count, fmt::format("{} is not in the model", view->name));
  }
  if (count > 0) {
    return Error{Error::Kind::bad_input,
                 fmt::format("{} does not fit the model, {} differences: {}{}", where, count,
                             fmt::join(problems, "; "), count > kShown ? "; ..." : "")};
  }
  for (const auto& [tensor, view] : pairs) {
    copy_values(tensor, *view);
    if (copied) copied(static_cast<size_t>(view - from.data()));
  }
  return std::monostate{};
}

}  // namespace plateau::train
