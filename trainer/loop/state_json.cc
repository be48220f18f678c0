// SPDX-License-Identifier: Apache-2.0
#include "trainer/loop/state_json.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <cmath>
#include <optional>

#include "base/json_writer.h"

namespace plateau::train {
namespace {

constexpr int64_t kFormat = 1;

std::string hex_of(const std::vector<std::byte>& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    text += kDigits[static_cast<size_t>(byte) >> 4U];
    text += kDigits[static_cast<size_t>(byte) & 15U];
  }
  return text;
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

std::optional<std::vector<std::byte>> bytes_of_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 2);
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = digit_of(text[i]);
    const int low = digit_of(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<std::byte>(16 * high + low));
  }
  return bytes;
}

// Reads members of one object and remembers the first that is not there or not of its kind.
class Members {
 public:
  explicit Members(simdjson::dom::object object) : object_(object) {}

  void read(std::string_view key, int64_t& out) { note(key, object_[key].get_int64().get(out)); }
  void read(std::string_view key, double& out) { note(key, object_[key].get_double().get(out)); }
  void read(std::string_view key, std::string& out) {
    std::string_view text;
    note(key, object_[key].get_string().get(text));
    out = text;
  }
  [[nodiscard]] bool is_null(std::string_view key) const {
    simdjson::dom::element element;
    return object_[key].get(element) != simdjson::SUCCESS || element.is_null();
  }
  simdjson::dom::array array(std::string_view key) {
    simdjson::dom::array array;
    note(key, object_[key].get_array().get(array));
    return missing_.empty() ? array : simdjson::dom::array();
  }
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  void note(std::string_view key, simdjson::error_code code) {
    if (code != simdjson::SUCCESS && missing_.empty()) missing_ = key;
  }
  simdjson::dom::object object_;
  std::string missing_;
};

bool parse_log(Members& members, std::vector<LogEntry>& log) {
  const simdjson::dom::array entries = members.array("log_history");
  if (!members.missing().empty()) return false;
  for (const auto element : entries) {
    simdjson::dom::object object;
    if (element.get_object().get(object) != simdjson::SUCCESS) return false;
    LogEntry entry;
    for (const auto& [key, value] : object) {
      double number = 0;
      if (value.get_double().get(number) != simdjson::SUCCESS) continue;
      if (key == "epoch") {
        entry.epoch = number;
      } else if (key == "step") {
        if (!(std::abs(number) < 1e15)) return false;
        entry.step = static_cast<int64_t>(number);
      } else {
        entry.values.emplace(key, number);
      }
    }
    log.push_back(std::move(entry));
  }
  return true;
}

Error broken(const std::string& where, std::string_view file, std::string_view what) {
  return {.kind = Error::Kind::bad_input, .message = fmt::format("{}/{}: {}", where, file, what)};
}

std::optional<Error> read_own_state(std::string_view plateau_json, const std::string& where,
                                    TrainerState& state) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(plateau_json.data(), plateau_json.size()).get_object().get(object) !=
      simdjson::SUCCESS) {
    return broken(where, "plateau_state.json", "not a JSON object");
  }
  Members ours(object);
  int64_t format = 0;
  std::string random;
  ours.read("format", format);
  ours.read("step", state.position.step);
  ours.read("epoch", state.position.epoch);
  ours.read("batch", state.position.batch);
  ours.read("epochs", state.epochs);
  ours.read("config_fingerprint", state.config_fingerprint);
  ours.read("dataset_fingerprint", state.dataset_fingerprint);
  ours.read("evaluations_without_gain", state.evaluations_without_gain);
  ours.read("pending_loss", state.pending_loss);
  ours.read("pending_steps", state.pending_steps);
  ours.read("random_state", random);
  const auto bytes = bytes_of_hex(random);
  if (!ours.missing().empty() || !bytes) {
    return broken(where, "plateau_state.json",
                  fmt::format("{} is missing or of another kind",
                              ours.missing().empty() ? "random_state" : ours.missing()));
  }
  if (format != kFormat) {
    return broken(where, "plateau_state.json", fmt::format("format {} is not known", format));
  }
  if (state.position.step < 0 || state.position.epoch < 0 || state.position.batch < 0) {
    return broken(where, "plateau_state.json", "a position is negative");
  }
  state.random_state = *bytes;
  return std::nullopt;
}

std::optional<Error> read_trainer_state(std::string_view trainer_json, const std::string& where,
                                        TrainerState& state) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(trainer_json.data(), trainer_json.size()).get_object().get(object) !=
      simdjson::SUCCESS) {
    return broken(where, "trainer_state.json", "not a JSON object");
  }
  Members theirs(object);
  int64_t step = 0;
  theirs.read("global_step", step);
  theirs.read("epoch", state.epoch);
  theirs.read("max_steps", state.total_steps);
  theirs.read("logging_steps", state.logging_steps);
  theirs.read("save_steps", state.save_steps);
  theirs.read("eval_steps", state.eval_steps);
  theirs.read("train_batch_size", state.batch_size);
  theirs.read("num_input_tokens_seen", state.tokens_seen);
  if (!theirs.is_null("best_metric")) {
    double best = 0;
    theirs.read("best_metric", best);
    theirs.read("best_global_step", state.best_step);
    theirs.read("best_model_checkpoint", state.best_checkpoint);
    state.best_metric = best;
  }
  const bool is_log = parse_log(theirs, state.log);
  if (!theirs.missing().empty() || !is_log) {
    return broken(where, "trainer_state.json",
                  fmt::format("{} is missing or of another kind",
                              theirs.missing().empty() ? "log_history" : theirs.missing()));
  }
  if (step != state.position.step) {
    return broken(
        where, "trainer_state.json",
        fmt::format("global_step is {}, plateau_state.json says {}", step, state.position.step));
  }
  return std::nullopt;
}

}  // namespace

std::string indented(std::string_view json) {
  std::string out;
  size_t depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      out += c;
      if (c == '\\' && i + 1 < json.size()) out += json[++i];
      in_string = c != '"';
      continue;
    }
    const bool opens = c == '{' || c == '[';
    const bool closes = c == '}' || c == ']';
    if (opens && i + 1 < json.size() && (json[i + 1] == '}' || json[i + 1] == ']')) {
      out += c;
      out += json[++i];
      continue;
    }
    if (closes) out += '\n' + std::string(2 * --depth, ' ');
    out += c;
    in_string = c == '"';
    if (opens) ++depth;
    if (opens || c == ',') out += '\n' + std::string(2 * depth, ' ');
    if (c == ':') out += ' ';
  }
  return out;
}

std::string trainer_state_json(const TrainerState& state) {
  JsonWriter json;
  const bool has_best = state.best_metric.has_value();
  json.begin_object();
  json.key("best_global_step");
  has_best ? json.value(state.best_step) : json.null();
  json.key("best_metric").value(state.best_metric);
  json.key("best_model_checkpoint");
  has_best ? json.value(state.best_checkpoint) : json.null();
  json.key("epoch").value(state.epoch).key("eval_steps").value(state.eval_steps);
  json.key("global_step").value(state.position.step);
  json.key("is_hyper_param_search").value(false).key("is_local_process_zero").value(true);
  json.key("is_world_process_zero").value(true).key("log_history").begin_array();
  for (const LogEntry& entry : state.log) {
    // Sorted, the step and the epoch among the rest.
    std::map<std::string, double> values = entry.values;
    values["epoch"] = entry.epoch;
    values["step"] = static_cast<double>(entry.step);
    json.begin_object();
    for (const auto& [key, value] : values) json.key(key).value(value);
    json.end_object();
  }
  json.end_array();
  json.key("logging_steps").value(state.logging_steps).key("max_steps").value(state.total_steps);
  json.key("num_input_tokens_seen").value(state.tokens_seen);
  json.key("num_train_epochs").value(static_cast<int64_t>(std::ceil(state.epochs)));
  json.key("save_steps").value(state.save_steps);
  json.key("stateful_callbacks").begin_object().end_object();
  json.key("total_flos").value(0).key("train_batch_size").value(state.batch_size);
  json.key("trial_name").null().key("trial_params").null().end_object();
  return indented(json.text()) + "\n";
}

std::string plateau_state_json(const TrainerState& state) {
  JsonWriter json;
  json.begin_object();
  json.key("batch").value(state.position.batch);
  json.key("config_fingerprint").value(state.config_fingerprint);
  json.key("dataset_fingerprint").value(state.dataset_fingerprint);
  json.key("epoch").value(state.position.epoch).key("epochs").value(state.epochs);
  json.key("evaluations_without_gain").value(state.evaluations_without_gain);
  json.key("format").value(kFormat);
  json.key("pending_loss").value(state.pending_loss);
  json.key("pending_steps").value(state.pending_steps);
  json.key("random_state").value(hex_of(state.random_state));
  json.key("step").value(state.position.step).end_object();
  return indented(json.text()) + "\n";
}

Result<TrainerState> parse_state(std::string_view trainer_json, std::string_view plateau_json,
                                 const std::string& where) {
  TrainerState state;
  if (const auto error = read_own_state(plateau_json, where, state)) return *error;
  if (const auto error = read_trainer_state(trainer_json, where, state)) return *error;
  return state;
}

}  // namespace plateau::train
