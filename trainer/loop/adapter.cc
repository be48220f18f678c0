// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/adapter.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/json_writer.h"
#include "trainer/loop/durable.h"
#include "trainer/loop/state_json.h"
#include "trainer/loop/tensors.h"

namespace plateau::train {
namespace {

constexpr std::string_view kPeftPrefix = "base_model.model.";
constexpr std::string_view kFileName = "adapter_model.safetensors";
constexpr std::string_view kConfigName = "adapter_config.json";
constexpr size_t kShown = 5;

// The module's path in the spelling of the hub: "model.layers.0..." and "visual.blocks.0...".
std::string hub_path(std::string_view path) {
  constexpr std::string_view kLanguage = "model.language_model.";
  constexpr std::string_view kVisual = "model.visual.";
  if (path.starts_with(kLanguage)) return fmt::format("model.{}", path.substr(kLanguage.size()));
  if (path.starts_with(kVisual)) return std::string(path.substr(6));
  return std::string(path);
}

std::string newer_path(const std::string& hub) {
  if (hub.starts_with("visual.")) return "model." + hub;
  if (hub.starts_with("model.")) return "model.language_model." + hub.substr(6);
  return hub;
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

// Keys whose value must be this, if they are there at all.
std::string unsupported(const simdjson::dom::object& object) {
  for (const auto& [key, value] : object) {
    const bool is_on = value.is_bool() && bool(value);
    if ((key == "use_dora" || key == "fan_in_fan_out" || key == "use_qalora") && is_on) {
      return fmt::format("{} is not supported", std::string(key));
    }
    if (key == "bias" && value.is_string() && std::string_view(value) != "none") {
      return "bias other than \"none\" is not supported";
    }
    if ((key == "rank_pattern" || key == "alpha_pattern") && value.is_object() &&
        simdjson::dom::object(value).size() > 0) {
      return fmt::format("{} is not supported", std::string(key));
    }
    if (key == "modules_to_save" && value.is_array() && simdjson::dom::array(value).size() > 0) {
      return "modules_to_save is not supported";
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

std::string adapter_config_text(const AdapterConfig& config) {
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
  for (const std::string& module : config.target_modules) json.value(module);
  json.end_array();
  json.key("task_type").value("CAUSAL_LM").key("use_dora").value(false);
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
  const std::string hub = hub_path(key.substr(kPeftPrefix.size()));
  return std::string(kPeftPrefix) + (layout == AdapterLayout::legacy ? hub : newer_path(hub));
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
  views.reserve(weights.size());
  for (const NamedTensor& named : weights) views.push_back(view_of(named.name, named.tensor));
  auto written = write_adapter(fresh.value().path(), views, config_json, layout);
  if (!written.ok()) return written;
  return fresh.value().publish();
}

Result<std::monostate> load_adapter(const std::filesystem::path& directory,
                                    const std::vector<NamedTensor>& weights) {
  auto file = SafetensorsFile::open(directory / kFileName);
  if (!file.ok()) return file.error();
  return fill_weights(weights, file.value().tensors(), (directory / kFileName).string());
}

Result<std::monostate> fill_weights(const std::vector<NamedTensor>& weights,
                                    const std::vector<TensorView>& from, const std::string& where) {
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
    if (mine.shape != found->second->shape || mine.dtype != found->second->dtype) {
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
  for (const auto& [tensor, view] : pairs) copy_values(tensor, *view);
  return std::monostate{};
}

}  // namespace plateau::train
