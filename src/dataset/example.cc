// SPDX-License-Identifier: Apache-2.0
#include "dataset/example.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "plan/json_fields.h"

namespace plateau {
namespace {

namespace dom = simdjson::dom;

constexpr std::string_view kPlaceholder = "<image>";
constexpr std::array<std::string_view, 4> kPictureKeys = {"images", "image", "file_name",
                                                          "image_path"};

Error phrase(std::string what) {
  return {Error::Kind::bad_input, std::move(what)};
}

std::string role_named(std::string_view word) {
  struct Row {
    std::string_view theirs;
    std::string_view ours;
  };
  constexpr std::array<Row, 5> kRows = {{{"human", "user"},
                                         {"gpt", "assistant"},
                                         {"model", "assistant"},
                                         {"chatgpt", "assistant"},
                                         {"bot", "assistant"}}};
  for (const Row& row : kRows) {
    if (row.theirs == word) return std::string(row.ours);
  }
  return std::string(word.substr(0, 40));
}

// Every step returns false once `error_` is set.
class ExampleReader {
 public:
  Result<TrainingExample> read(dom::object object) {
    if (!read_form(object) || !read_pictures(object)) return phrase(error_);
    dom::element ignored;
    for (const std::string_view key : {"videos", "video", "audios", "audio"}) {
      if (object.at_key(key).get(ignored) == simdjson::SUCCESS && !ignored.is_null()) {
        out_.has_other_media = true;
      }
    }
    for (const ExampleTurn& turn : out_.turns) count_placeholders(turn.text);
    return std::move(out_);
  }

 private:
  bool fail(std::string what) {
    if (error_.empty()) error_ = std::move(what);
    return false;
  }

  // Present and not null.
  static bool find(dom::object object, std::string_view key, dom::element& out) {
    return object.at_key(key).get(out) == simdjson::SUCCESS && !out.is_null();
  }

  void count_placeholders(std::string_view text) {
    for (size_t at = text.find(kPlaceholder); at != std::string_view::npos;
         at = text.find(kPlaceholder, at + kPlaceholder.size())) {
      ++out_.placeholders;
    }
  }

  bool read_form(dom::object object) {
    dom::element value;
    if (find(object, "messages", value)) {
      out_.form = "messages";
      return add_turns(value, "messages");
    }
    if (find(object, "conversations", value) || find(object, "conversation", value)) {
      out_.form = "conversations";
      dom::element system;
      if (find(object, "system", system) && !add_text(system, "system", "system", false))
        return false;
      return add_turns(value, "conversations");
    }
    if (find(object, "prompt", value)) return read_prompt(object, value);
    if (find(object, "instruction", value)) return read_alpaca(object, value);
    if (find(object, "query", value) || find(object, "response", value)) return read_query(object);
    if (find(object, "text", value)) {
      out_.form = "text";
      return add_text(value, "text", "text", true);
    }
    return unknown(object);
  }

  bool unknown(dom::object object) {
    std::string names;
    size_t shown = 0;
    for (const auto [key, value] : object) {
      if (++shown > 6) break;
      names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", key.substr(0, 40));
    }
    return fail(names.empty() ? "an empty object" : "none of the known forms: it has " + names);
  }

  bool add_text(dom::element value, std::string_view key, std::string role, bool is_learned) {
    std::string_view text;
    if (value.get_string().get(text) != simdjson::SUCCESS) {
      return fail(fmt::format("\"{}\" must be a string, found {}", key, json_kind(value)));
    }
    out_.turns.push_back(
        {.role = std::move(role), .text = std::string(text), .is_learned = is_learned});
    return true;
  }

  bool read_prompt(dom::object object, dom::element prompt) {
    out_.form = "prompt";
    if (!add_text_or_turns(prompt, "prompt", "user", false)) return false;
    dom::element answer;
    for (const std::string_view key : {"completion", "chosen", "response", "output"}) {
      if (find(object, key, answer)) return add_text_or_turns(answer, key, "assistant", true);
    }
    return fail("\"prompt\" without \"completion\" or \"chosen\"");
  }

  bool add_text_or_turns(dom::element value, std::string_view key, std::string role,
                         bool is_learned) {
    return value.is_array() ? add_turns(value, key)
                            : add_text(value, key, std::move(role), is_learned);
  }

  bool read_alpaca(dom::object object, dom::element instruction) {
    out_.form = "alpaca";
    dom::element value;
    if (find(object, "system", value) && !add_text(value, "system", "system", false)) return false;
    if (!add_text(instruction, "instruction", "user", false)) return false;
    if (find(object, "input", value)) {
      std::string_view input;
      if (value.get_string().get(input) != simdjson::SUCCESS) {
        return fail(fmt::format("\"input\" must be a string, found {}", json_kind(value)));
      }
      if (!input.empty()) out_.turns.back().text += "\n" + std::string(input);
    }
    if (find(object, "output", value)) return add_text(value, "output", "assistant", true);
    if (find(object, "chosen", value)) return add_text(value, "chosen", "assistant", true);
    return fail("\"instruction\" without \"output\"");
  }

  bool read_query(dom::object object) {
    out_.form = "query";
    dom::element value;
    if (find(object, "system", value) && !add_text(value, "system", "system", false)) return false;
    dom::array history;
    if (find(object, "history", value) && value.get_array().get(history) == simdjson::SUCCESS) {
      for (const dom::element round : history) {
        dom::array pair;
        if (round.get_array().get(pair) != simdjson::SUCCESS || pair.size() != 2) {
          return fail("\"history\" must be a list of pairs");
        }
        if (!add_text(pair.at(0).value(), "history", "user", false)) return false;
        if (!add_text(pair.at(1).value(), "history", "assistant", true)) return false;
      }
    }
    if (find(object, "query", value) && !add_text(value, "query", "user", false)) return false;
    if (find(object, "response", value)) return add_text(value, "response", "assistant", true);
    return fail("\"query\" without \"response\"");
  }

  bool add_turns(dom::element list, std::string_view key) {
    dom::array turns;
    if (list.get_array().get(turns) != simdjson::SUCCESS) {
      return fail(fmt::format("\"{}\" must be a list, found {}", key, json_kind(list)));
    }
    size_t number = 0;
    for (const dom::element turn : turns) {
      ++number;
      dom::object object;
      if (turn.get_object().get(object) != simdjson::SUCCESS) {
        return fail(fmt::format("turn {} of \"{}\" must be an object, found {}", number, key,
                                json_kind(turn)));
      }
      if (!add_turn(object, fmt::format("turn {}", number))) return false;
    }
    return number > 0 || fail(fmt::format("\"{}\" is empty", key));
  }

  bool add_turn(dom::object object, const std::string& where) {
    dom::element role;
    std::string_view role_word;
    if (!find(object, "role", role) && !find(object, "from", role))
      return fail(where + " has no role");
    if (role.get_string().get(role_word) != simdjson::SUCCESS)
      return fail(where + ": the role must be a string");
    ExampleTurn turn{.role = role_named(role_word)};
    turn.is_learned = turn.role == "assistant" || turn.role == "function_call";
    dom::element content;
    const bool has_content = find(object, "content", content) || find(object, "value", content);
    std::string_view text;
    dom::array parts;
    if (!has_content) {
      // A call of a tool has none.
      dom::element calls;
      if (!find(object, "tool_calls", calls)) return fail(where + " has no content");
    } else if (content.get_string().get(text) == simdjson::SUCCESS) {
      turn.text = text;
    } else if (content.get_array().get(parts) == simdjson::SUCCESS) {
      for (const dom::element part : parts) {
        if (!add_part(part, where, turn)) return false;
      }
    } else {
      return fail(fmt::format("{}: the content must be a string or a list, found {}", where,
                              json_kind(content)));
    }
    out_.turns.push_back(std::move(turn));
    return true;
  }

  bool add_part(dom::element part, const std::string& where, ExampleTurn& turn) {
    std::string_view word;
    if (part.get_string().get(word) == simdjson::SUCCESS) {
      turn.text += word;
      return true;
    }
    dom::object object;
    if (part.get_object().get(object) != simdjson::SUCCESS)
      return fail(where + ": a part must be an object");
    dom::element value;
    if (find(object, "text", value)) {
      if (value.get_string().get(word) != simdjson::SUCCESS)
        return fail(where + ": a part's text must be a string");
      turn.text += word;
      return true;
    }
    for (const std::string_view key : {"image", "image_url", "path", "url"}) {
      if (!find(object, key, value)) continue;
      ++out_.in_parts;
      return add_picture(value);
    }
    std::string_view type;
    if (find(object, "type", value) && value.get_string().get(type) == simdjson::SUCCESS &&
        type == "image") {
      // TRL's form: the picture itself stands in "images".
      turn.text += kPlaceholder;
      return true;
    }
    out_.has_other_media = true;
    return true;
  }

  bool add_picture(dom::element value) {
    std::string_view text;
    if (value.get_string().get(text) == simdjson::SUCCESS) {
      out_.pictures.push_back({.reference = std::string(text)});
      return true;
    }
    dom::object object;
    if (value.get_object().get(object) != simdjson::SUCCESS) {
      return fail(fmt::format("a picture must be a path or an object, found {}", json_kind(value)));
    }
    dom::element inner;
    // Beside bytes, a path is where they came from.
    if (find(object, "bytes", inner) && inner.get_string().get(text) == simdjson::SUCCESS) {
      out_.pictures.push_back({.reference = "data:;base64," + std::string(text)});
      return true;
    }
    for (const std::string_view key : {"url", "path", "image"}) {
      if (find(object, key, inner) && inner.get_string().get(text) == simdjson::SUCCESS) {
        out_.pictures.push_back({.reference = std::string(text)});
        return true;
      }
    }
    return fail("a picture without \"path\", \"url\" or \"bytes\"");
  }

  bool read_pictures(dom::object object) {
    for (const std::string_view key : kPictureKeys) {
      dom::element value;
      if (!find(object, key, value)) continue;
      dom::array list;
      if (value.get_array().get(list) != simdjson::SUCCESS) return add_picture(value);
      for (const dom::element each : list) {
        if (!add_picture(each)) return false;
      }
      return true;
    }
    return true;
  }

  TrainingExample out_;
  std::string error_;
};

}  // namespace

Result<TrainingExample> read_example(dom::element element) {
  dom::object object;
  if (element.get_object().get(object) != simdjson::SUCCESS) {
    return phrase(fmt::format("an example must be an object, found {}", json_kind(element)));
  }
  return ExampleReader().read(object);
}

}  // namespace plateau
