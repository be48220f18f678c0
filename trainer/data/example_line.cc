// SPDX-License-Identifier: Apache-2.0
// Which of the published forms a line has is told by its fields; one pass over them fills a draft,
// and draft.cc gives every picture its place. What would change the training and is not done here
// (tools, videos, answers that are not to be learned, rejected answers) is refused, never skipped.
#include "trainer/data/example_line.h"

#include <simdjson.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "trainer/data/turn_reader.h"

namespace plateau::train {
namespace {

namespace ondemand = simdjson::ondemand;

enum class Form : uint8_t { messages, conversations, fields };

bool is_like_a_picture(std::string_view text) {
  if (text.starts_with("data:image/")) return true;
  const size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return false;
  const std::string_view ending = text.substr(dot + 1);
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"jpg", "jpeg", "png", "webp", "gif", "bmp", "tiff"},
      [&](std::string_view known) { return equal_ignoring_case(ending, known); });
}

class LineParser : public TurnReader {
 public:
  LineParser(const DatasetOptions& options, const PictureReader& read_picture)
      : TurnReader(read_picture), options_(options) {}

  bool parse(std::string& line);

 private:
  bool visit(Form form, std::string_view key, Value value);
  bool visit_field(std::string_view key, Value value);
  bool note_unread(std::string_view key, Value value);
  bool finish(Form form);
  bool finish_fields();

  bool read_beside(std::string_view key, Value value);
  bool read_question_or_turns(std::string_view key, Value value);
  bool read_history(Value value);

  const DatasetOptions& options_;
  bool has_image_field_ = false;
  std::optional<std::string_view> question_;
  std::optional<std::string_view> input_;
  std::optional<std::string_view> response_;
  std::optional<std::string_view> output_;
  std::optional<std::string_view> system_;
  std::string unread_picture_;  // The first field that looks like one.
};

// One picture, a list of them, or null for none.
bool LineParser::read_beside(std::string_view key, Value value) {
  const std::string what = in_quotes(key);
  Type type{};
  if (!type_of(value, type)) return false;
  has_image_field_ = true;
  const auto add = [&](Value reference, size_t /*number*/) {
    std::optional<std::string_view> text;
    if (!read_picture_value(reference, what, text)) return false;
    if (!text) return fail(what + ": a picture is expected, found null");
    draft_.beside.push_back(draft_.pictures.size());
    return add_picture(*text);
  };
  if (type == Type::null) return true;
  if (!draft_.beside.empty()) {
    if (key == draft_.beside_field) return fail(what + " stands twice");
    return fail("pictures stand in " + in_quotes(draft_.beside_field) + " and in " + what);
  }
  draft_.beside_field = key;
  if (type == Type::string || type == Type::object) return add(value, 1);
  if (type != Type::array) return fail_type(what, "a picture or a list of them", type);
  return each_element(value, what, add);
}

// [["question", "answer"], ...], which came before the turn of the line.
bool LineParser::read_history(Value value) {
  Type type{};
  if (!type_of(value, type)) return false;
  if (type == Type::null) return true;
  size_t turns = 0;
  return each_element(value, "\"history\"", [&](Value pair, size_t number) {
    const std::string what = "\"history\" " + std::to_string(number);
    size_t count = 0;
    const bool is_read = each_element(pair, what, [&](Value text, size_t /*place*/) {
      std::string_view words;
      if (!read_string(text, what, words)) return false;
      add_turn(count++ == 0 ? Message::Role::user : Message::Role::assistant, words, turns++);
      return true;
    });
    return is_read && (count == 2 || fail(what + ": a question and an answer are expected"));
  });
}

// "prompt" and "completion" of TRL are strings, or lists of messages.
bool LineParser::read_question_or_turns(std::string_view key, Value value) {
  Type type{};
  if (!type_of(value, type)) return false;
  if (type == Type::array) return read_turns(value, in_quotes(key));
  return read_optional(value, in_quotes(key), key == "completion" ? response_ : question_);
}

bool LineParser::visit_field(std::string_view key, Value value) {
  if (key == options_.text_field) return read_optional(value, in_quotes(key), question_);
  if (key == "response") return read_optional(value, in_quotes(key), response_);
  if (key == "output") return read_optional(value, in_quotes(key), output_);
  if (is_among(key, {"prompt", "completion"})) return read_question_or_turns(key, value);
  if (is_among(key, {"instruction", "query"})) {
    return read_optional(value, in_quotes(key), question_);
  }
  if (key == "input") return read_optional(value, in_quotes(key), input_);
  if (key == "history") return read_history(value);
  return note_unread(key, value);
}

// An example without pictures whose line names some was meant to have them.
bool LineParser::note_unread(std::string_view key, Value value) {
  Type type{};
  if (!type_of(value, type)) return false;
  if (type != Type::string || !unread_picture_.empty()) return true;
  std::string_view text;
  if (!read_string(value, in_quotes(key), text)) return false;
  if (is_like_a_picture(text)) unread_picture_ = key;
  return true;
}

bool LineParser::visit(Form form, std::string_view key, Value value) {
  if (form == Form::messages && key == "messages") return read_turns(value, in_quotes(key));
  if (form == Form::conversations && key == "conversations") {
    return read_turns(value, in_quotes(key));
  }
  if (key == options_.image_field || is_among(key, {"image", "images"})) {
    return read_beside(key, value);
  }
  if (key == "system") return read_optional(value, in_quotes(key), system_);
  if (is_among(key, {"videos", "video", "audios", "audio"})) {
    return refuse_if_set(key, value, "only text and pictures are supported");
  }
  if (key == "tools") return refuse_if_set(key, value, "calls of tools are not supported");
  if (is_among(key, {"rejected", "rejected_response", "rejected_messages", "chosen"})) {
    return refuse_if_set(key, value, "pairs of a better and a worse answer are not supported");
  }
  return form == Form::fields ? visit_field(key, value) : note_unread(key, value);
}

bool LineParser::finish_fields() {
  if (!draft_.messages.empty() && !question_ && !response_) return true;
  if (!question_) {
    return fail("no field " + in_quotes(options_.text_field) +
                ", \"messages\", \"conversations\", \"instruction\", \"query\" or \"prompt\"");
  }
  if (!response_) response_ = output_;
  if (!response_) return fail("no field \"response\" (or \"output\", \"completion\")");
  if (trim(*response_).empty()) return fail("the answer is empty");
  std::string question(*question_);
  if (input_ && !input_->empty()) question += "\n" + std::string(*input_);
  if (trim(question).empty() && draft_.beside.empty()) return fail("the question is empty");
  add_turn(Message::Role::user, question);
  add_turn(Message::Role::assistant, *response_);
  return true;
}

bool LineParser::finish(Form form) {
  if (form == Form::fields && !finish_fields()) return false;
  if (system_ && !system_->empty()) {
    const bool has_one =
        !draft_.messages.empty() && draft_.messages.front().role == Message::Role::system;
    if (has_one) return fail("\"system\" stands beside the messages and among them");
    add_turn(Message::Role::system, *system_, 0);
  }
  if (draft_.pictures.empty() && !unread_picture_.empty()) {
    return fail(in_quotes(unread_picture_) +
                " looks like a picture and is not read; \"image\" or "
                "\"images\" is expected, or --image-field " +
                unread_picture_);
  }
  return true;
}

bool LineParser::parse(std::string& line) {
  const size_t size = line.size();
  line.append(simdjson::SIMDJSON_PADDING, '\0');
  ondemand::parser parser;
  ondemand::document document;
  if (const auto code = parser.iterate(line.data(), size, line.size()).get(document)) {
    return fail_json(code);
  }
  Type type{};
  if (!type_of(document, type)) return false;
  if (type != Type::object) {
    return fail("an object {...} is expected in every line, found " + std::string(name_of(type)));
  }
  ondemand::object root;
  if (const auto code = document.get_object().get(root)) return fail_json(code);
  Form form = Form::fields;
  bool has_text_field = false;
  bool is_twice = false;
  const bool is_read = each_member(root, [&](std::string_view key, Value /*value*/) {
    if (key == options_.text_field) has_text_field = true;
    if (key == "messages") is_twice |= std::exchange(form, Form::messages) == Form::messages;
    if (key == "conversations" && form == Form::fields) form = Form::conversations;
    return true;
  });
  if (!is_read) return false;
  if (is_twice) return fail("\"messages\" stands twice");
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
    return fail("not JSON: something follows the object");
  }
  document.rewind();
  if (const auto code = document.get_object().get(root)) return fail_json(code);
  if (!each_member(root,
                   [&](std::string_view key, Value value) { return visit(form, key, value); })) {
    return false;
  }
  if (form == Form::fields && has_text_field && !has_image_field_ && unread_picture_.empty()) {
    return fail("no field " + in_quotes(options_.image_field) +
                "; write null for an example without");
  }
  return finish(form);
}

}  // namespace

Result<Example> parse_example_line(std::string line, const DatasetOptions& options,
                                   const PictureReader& read_picture) {
  LineParser parser(options, read_picture);
  if (!parser.parse(line)) return parser.error();
  return finish_example(parser.take());
}

}  // namespace plateau::train
