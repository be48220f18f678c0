// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/model_files.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "trainer/image/normalise.h"
#include "trainer/text/conversation.h"
#include "trainer/text/jinja.h"

namespace plateau::train {
namespace {

namespace fs = std::filesystem;
namespace dom = simdjson::dom;

Error bad(const fs::path& file, const std::string& what) {
  return {Error::Kind::bad_input, file.string() + ": " + what};
}

std::optional<std::string> text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string expected(std::string_view key, const std::string& found, const std::string& wanted) {
  return std::string(key) + " is " + found + ", and " + wanted + " is what is computed here";
}

// The first key whose value is another than what the picture room does; empty if there is none.
std::string unlike(const dom::object& object, const ProcessorOptions& known) {
  const std::pair<std::string_view, int64_t> numbers[] = {{"patch_size", known.patch_size},
                                                          {"merge_size", known.merge_size},
                                                          {"temporal_patch_size", 2},
                                                          {"resample", 3}};
  for (const auto& [key, wanted] : numbers) {
    int64_t found = 0;
    if (object[key].get_int64().get(found) == simdjson::SUCCESS && found != wanted) {
      return expected(key, std::to_string(found), std::to_string(wanted));
    }
  }
  for (const std::string_view key : {"do_resize", "do_rescale", "do_normalize", "do_convert_rgb"}) {
    bool is_on = true;
    if (object[key].get_bool().get(is_on) == simdjson::SUCCESS && !is_on) {
      return expected(key, "false", "true");
    }
  }
  double factor = 0;
  if (object["rescale_factor"].get_double().get(factor) == simdjson::SUCCESS &&
      std::abs(factor * 255 - 1) > 1e-6) {
    return expected("rescale_factor", std::to_string(factor), "1/255");
  }
  for (const auto& [key, wanted] :
       {std::pair("image_mean", &kPictureMean), std::pair("image_std", &kPictureDeviation)}) {
    dom::array values;
    if (object[key].get_array().get(values) != simdjson::SUCCESS) continue;
    size_t i = 0;
    for (const auto value : values) {
      double number = 0;
      const bool is_number = value.get_double().get(number) == simdjson::SUCCESS;
      if (i >= wanted->size() || !is_number || std::abs(number - (*wanted)[i]) > 1e-5) {
        return expected(key, simdjson::minify(values), "that of Qwen2-VL");
      }
      ++i;
    }
  }
  return "";
}

// min_pixels and max_pixels, or since transformers 4.54 "size" with the same under other names.
void read_limits(const dom::object& object, ProcessorOptions& out) {
  const auto read = [](simdjson::simdjson_result<dom::element> value, int64_t& into) {
    int64_t number = 0;
    if (value.get_int64().get(number) == simdjson::SUCCESS && number > 0) into = number;
  };
  read(object["size"]["shortest_edge"], out.min_pixels);
  read(object["size"]["longest_edge"], out.max_pixels);
  read(object["min_pixels"], out.min_pixels);
  read(object["max_pixels"], out.max_pixels);
}

struct Source {
  fs::path file;
  std::string text;
};

// Of {"chat_template": "..."}, or of a list of named ones the default.
std::optional<std::string> template_in(const std::string& json) {
  dom::parser parser;
  dom::object object;
  std::string_view text;
  if (parser.parse(json).get_object().get(object) != simdjson::SUCCESS) return std::nullopt;
  if (object["chat_template"].get_string().get(text) == simdjson::SUCCESS) return std::string(text);
  dom::array named;
  if (object["chat_template"].get_array().get(named) != simdjson::SUCCESS) return std::nullopt;
  for (const auto entry : named) {
    std::string_view name;
    if (entry["name"].get_string().get(name) == simdjson::SUCCESS && name == "default" &&
        entry["template"].get_string().get(text) == simdjson::SUCCESS) {
      return std::string(text);
    }
  }
  return std::nullopt;
}

// In the order in which transformers looks.
std::optional<Source> find_template(const fs::path& model) {
  if (auto text = text_of(model / "chat_template.jinja")) {
    return Source{model / "chat_template.jinja", std::move(*text)};
  }
  for (const char* name : {"chat_template.json", "tokenizer_config.json"}) {
    const auto json = text_of(model / name);
    if (!json) continue;
    if (auto text = template_in(*json)) return Source{model / name, std::move(*text)};
  }
  return std::nullopt;
}

struct Probe {
  std::vector<Message> messages;
  bool is_generation = false;
};

std::vector<Probe> probes() {
  const auto text = [](std::string words) { return Part{.text = std::move(words)}; };
  const Part picture{.kind = Part::Kind::image};
  const auto turn = [](Message::Role role, std::vector<Part> parts) {
    return Message{.role = role, .parts = std::move(parts)};
  };
  using Role = Message::Role;
  const Message asked = turn(Role::user, {picture, text("Which of ")});
  const Message answer = turn(Role::assistant, {text("The first.")});
  const Message more = turn(Role::user, {text(" a "), picture, text(" b?\n")});
  const Message system = turn(Role::system, {text("Be brief.")});
  return {{.messages = {asked}, .is_generation = true},
          {.messages = {asked, answer}},
          {.messages = {system, asked, answer, more, answer}},
          {.messages = {system, more}, .is_generation = true}};
}

// As apply_chat_template is called with it: parts, or one text where there is no picture.
std::string json_of(const Probe& probe, bool as_parts) {
  constexpr std::string_view kRoles[] = {"system", "user", "assistant"};
  JsonWriter json;
  json.begin_object().key("add_generation_prompt").value(probe.is_generation);
  json.key("messages").begin_array();
  for (const Message& message : probe.messages) {
    json.begin_object().key("role").value(kRoles[static_cast<size_t>(message.role)]);
    json.key("content");
    if (!as_parts && message.parts.size() == 1 && message.parts[0].kind == Part::Kind::text) {
      json.value(message.parts[0].text).end_object();
      continue;
    }
    json.begin_array();
    for (const Part& part : message.parts) {
      const bool is_text = part.kind == Part::Kind::text;
      json.begin_object().key("type").value(is_text ? "text" : "image");
      if (is_text) json.key("text").value(part.text);
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array().end_object();
  return json.take();
}

// Where two texts part, with what stands there.
std::string parting(std::string_view theirs, std::string_view ours) {
  const auto [at, other] = std::ranges::mismatch(theirs, ours);
  const auto shown = [](std::string_view text, size_t from) {
    JsonWriter json;
    json.value(text.substr(std::min(from, text.size()), 40));
    return json.take();
  };
  const auto from = static_cast<size_t>(at - theirs.begin());
  return "from character " + std::to_string(from + 1) + " on it gives " + shown(theirs, from) +
         " where " + shown(ours, from) + " is trained on";
}

}  // namespace

Result<ProcessorOptions> read_processor(const fs::path& model, ProcessorOptions known,
                                        const PixelLimits& given) {
  ProcessorOptions out = known;
  fs::path file = model / "preprocessor_config.json";
  std::optional<std::string> json = text_of(file);
  const bool is_nested = !json;
  if (is_nested) {
    file = model / "processor_config.json";
    json = text_of(file);
  }
  dom::parser parser;
  dom::object object;
  if (json) {
    if (parser.parse(*json).get_object().get(object) != simdjson::SUCCESS) {
      return bad(file, "not a JSON object");
    }
    const bool has_pictures =
        !is_nested || object["image_processor"].get_object().get(object) == simdjson::SUCCESS;
    if (has_pictures) {
      if (const std::string wrong = unlike(object, known); !wrong.empty()) return bad(file, wrong);
      read_limits(object, out);
    }
  }
  out.min_pixels = given.least.value_or(out.min_pixels);
  out.max_pixels = given.most.value_or(out.max_pixels);
  if (out.min_pixels > out.max_pixels) {
    return bad(file, "at least " + std::to_string(out.min_pixels) + " pixels and at most " +
                         std::to_string(out.max_pixels));
  }
  return out;
}

Result<std::monostate> check_chat_template(const fs::path& model) {
  const std::optional<Source> source = find_template(model);
  if (!source) return std::monostate{};
  const std::string way_out = "; --chat-template builtin trains with Qwen2.5-VL's all the same";
  const auto wrong = [&](const std::string& what) {
    return bad(source->file, "the chat template: " + what + way_out);
  };
  const Result<JinjaTemplate> read = JinjaTemplate::parse(source->text);
  if (!read) return wrong(read.error().message);
  for (const Probe& probe : probes()) {
    const std::string ours = conversation_text(probe.messages, probe.is_generation);
    for (const bool as_parts : {true, false}) {
      const Result<JinjaScope> values = jinja_values_of_json(json_of(probe, as_parts));
      if (!values) return wrong(values.error().message);
      const Result<std::string> theirs = read.value().render(values.value());
      if (!theirs) return wrong(theirs.error().message);
      if (theirs.value() != ours) return wrong(parting(theirs.value(), ours));
    }
  }
  return std::monostate{};
}

}  // namespace plateau::train
