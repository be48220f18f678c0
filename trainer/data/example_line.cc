// SPDX-License-Identifier: Apache-2.0
// Fields are taken as they come, so a picture of many megabytes is unescaped once and never stored
// as a tree. Values that nobody asks for are stepped over.
#include "trainer/data/example_line.h"

#include <simdjson.h>

#include <optional>
#include <utility>

#include "base/text.h"

namespace plateau::train {
namespace {

namespace ondemand = simdjson::ondemand;

// For messages: a value's text may be megabytes.
std::string in_quotes(std::string_view text) {
  constexpr size_t kShown = 60;
  if (text.size() <= kShown) return '"' + std::string(text) + '"';
  return '"' + std::string(text.substr(0, kShown)) + "...\"";
}

std::string_view type_name(ondemand::json_type type) {
  switch (type) {
    case ondemand::json_type::array:
      return "a list";
    case ondemand::json_type::object:
      return "an object";
    case ondemand::json_type::number:
      return "a number";
    case ondemand::json_type::string:
      return "a string";
    case ondemand::json_type::boolean:
      return "true or false";
    case ondemand::json_type::null:
      return "null";
  }
  return "something else";
}

// Every step returns false once `error_` is set.
class LineParser {
 public:
  LineParser(const DatasetOptions& options, const PictureReader& read_picture)
      : options_(options), read_picture_(read_picture) {}

  bool parse(std::string& line);
  [[nodiscard]] Error error() const { return Error{Error::Kind::bad_input, error_}; }
  Example take() { return std::move(example_); }

 private:
  bool fail(std::string what) {
    error_ = std::move(what);
    return false;
  }
  bool fail_json(simdjson::error_code code) {
    if (code == simdjson::UTF8_ERROR) return fail("not valid UTF-8");
    return fail(std::string("not JSON: ") + simdjson::error_message(code));
  }
  // What `value` is, and an error if it is none of JSON's types.
  template <typename Value>
  bool type_of(Value& value, ondemand::json_type& type) {
    if (const simdjson::error_code code = value.type().get(type)) return fail_json(code);
    if (type != ondemand::json_type::null) return true;
    // simdjson has looked at the first letter only.
    bool is_null = false;
    const simdjson::error_code code = value.is_null().get(is_null);
    return code || !is_null ? fail_json(simdjson::N_ATOM_ERROR) : true;
  }
  bool fail_type(const std::string& what, std::string_view expected, ondemand::json_type found) {
    return fail(what + ": " + std::string(expected) + " is expected, found " +
                std::string(type_name(found)));
  }

  // Calls visit(key, value) for every member until one returns false.
  template <typename Visit>
  bool each_member(ondemand::object object, Visit visit) {
    for (auto member : object) {
      ondemand::field field;
      if (const auto code = std::move(member).get(field)) return fail_json(code);
      std::string_view key;
      if (const auto code = field.unescaped_key().get(key)) return fail_json(code);
      if (!visit(key, field.value())) return false;
    }
    return true;
  }
  // Calls visit(element, number) for every element, counted from 1, until one returns false.
  template <typename Visit>
  bool each_element(ondemand::value value, Visit visit) {
    ondemand::array list;
    if (const auto code = value.get_array().get(list)) return fail_json(code);
    size_t number = 0;
    for (auto member : list) {
      ondemand::value element;
      if (const auto code = std::move(member).get(element)) return fail_json(code);
      if (!visit(element, ++number)) return false;
    }
    return true;
  }
  // An error, for which `what` is the name, unless `value` is an object.
  bool to_object(ondemand::value value, const std::string& what, ondemand::object& out) {
    ondemand::json_type type{};
    if (!type_of(value, type)) return false;
    if (type != ondemand::json_type::object) return fail_type(what, "an object", type);
    const simdjson::error_code code = value.get_object().get(out);
    return code ? fail_json(code) : true;
  }

  bool read_string(ondemand::value value, const std::string& what, std::string_view& out);
  bool read_optional(ondemand::value value, const std::string& what,
                     std::optional<std::string_view>& out);

  bool parse_simple(ondemand::object root);
  bool parse_images(ondemand::value value, std::vector<Part>& parts);
  bool parse_messages(ondemand::object root);
  bool parse_message(ondemand::value value, const std::string& what);
  bool parse_content(ondemand::value value, const std::string& what, std::vector<Part>& parts);
  bool parse_part(ondemand::value value, const std::string& what, std::vector<Part>& parts);
  bool parse_image_url(ondemand::value value, const std::string& what,
                       std::optional<std::string_view>& out);
  bool parse_role(std::string_view text, const std::string& what, Message& message);
  bool add_picture(std::string_view reference, std::vector<Part>& parts);
  bool check_turns();

  const DatasetOptions& options_;
  const PictureReader& read_picture_;
  Example example_;
  std::string error_;
};

bool LineParser::read_string(ondemand::value value, const std::string& what,
                             std::string_view& out) {
  ondemand::json_type type{};
  if (!type_of(value, type)) return false;
  if (type != ondemand::json_type::string) return fail_type(what, "a string", type);
  const simdjson::error_code code = value.get_string().get(out);
  return code ? fail_json(code) : true;
}

// null counts as left out: tools that write all parts with the same fields fill them so.
bool LineParser::read_optional(ondemand::value value, const std::string& what,
                               std::optional<std::string_view>& out) {
  ondemand::json_type type{};
  if (!type_of(value, type)) return false;
  if (type == ondemand::json_type::null) return true;
  std::string_view text;
  if (!read_string(value, what, text)) return false;
  if (out) return fail(what + " stands twice");
  out = text;
  return true;
}

bool LineParser::add_picture(std::string_view reference, std::vector<Part>& parts) {
  const size_t index = example_.pictures.size();
  Result<PictureSource> picture = read_picture_(reference, index + 1);
  if (!picture) return fail(picture.error().message);
  example_.pictures.push_back(std::move(picture.value()));
  parts.push_back({.kind = Part::Kind::image, .image = index});
  return true;
}

// One reference, a list of them, or null for none.
bool LineParser::parse_images(ondemand::value value, std::vector<Part>& parts) {
  const std::string what = in_quotes(options_.image_field);
  ondemand::json_type type{};
  if (!type_of(value, type)) return false;
  if (type == ondemand::json_type::null) return true;
  const auto add = [&](ondemand::value reference, size_t /*number*/) {
    std::string_view text;
    return read_string(reference, what, text) && add_picture(text, parts);
  };
  if (type == ondemand::json_type::string) return add(value, 1);
  if (type != ondemand::json_type::array) return fail_type(what, "a string or a list", type);
  return each_element(value, add);
}

bool LineParser::parse_simple(ondemand::object root) {
  std::optional<std::string_view> text;
  std::optional<std::string_view> response;
  std::optional<std::string_view> output;
  bool has_image = false;
  Message question{.role = Message::Role::user};
  const bool is_read = each_member(root, [&](std::string_view key, ondemand::value value) {
    if (key == options_.text_field) return read_optional(value, in_quotes(key), text);
    if (key == "response") return read_optional(value, in_quotes(key), response);
    if (key == "output") return read_optional(value, in_quotes(key), output);
    if (key != options_.image_field) return true;
    if (std::exchange(has_image, true)) return fail(in_quotes(key) + " stands twice");
    return parse_images(value, question.parts);
  });
  if (!is_read) return false;
  if (!text) return fail("no field " + in_quotes(options_.text_field) + " and no \"messages\"");
  if (!has_image) {
    return fail("no field " + in_quotes(options_.image_field) +
                "; write null for an example without");
  }
  if (!response) response = output;
  if (!response) return fail("no field \"response\" (or \"output\")");
  if (trim(*response).empty()) return fail("the answer is empty");
  if (trim(*text).empty() && question.parts.empty()) return fail("the question is empty");
  question.parts.push_back({.kind = Part::Kind::text, .text = std::string(*text)});
  Message answer{.role = Message::Role::assistant};
  answer.parts.push_back({.kind = Part::Kind::text, .text = std::string(*response)});
  example_.messages.push_back(std::move(question));
  example_.messages.push_back(std::move(answer));
  return true;
}

bool LineParser::parse_image_url(ondemand::value value, const std::string& what,
                                 std::optional<std::string_view>& out) {
  ondemand::json_type type{};
  if (!type_of(value, type)) return false;
  if (type != ondemand::json_type::object) return read_optional(value, what, out);
  ondemand::object object;
  if (!to_object(value, what, object)) return false;
  return each_member(object, [&](std::string_view key, ondemand::value url) {
    return key != "url" || read_optional(url, what + ": \"url\"", out);
  });
}

bool LineParser::parse_part(ondemand::value value, const std::string& what,
                            std::vector<Part>& parts) {
  ondemand::object object;
  if (!to_object(value, what, object)) return false;
  std::optional<std::string_view> type;
  std::optional<std::string_view> text;
  std::optional<std::string_view> image;
  std::optional<std::string_view> image_url;
  const bool is_read = each_member(object, [&](std::string_view key, ondemand::value member) {
    const std::string named = what + ": " + in_quotes(key);
    if (key == "type") return read_optional(member, named, type);
    if (key == "text") return read_optional(member, named, text);
    if (key == "image") return read_optional(member, named, image);
    if (key == "image_url") return parse_image_url(member, named, image_url);
    return true;
  });
  if (!is_read) return false;
  if (!type) return fail(what + ": no \"type\"");
  if (*type == "text") {
    if (!text) return fail(what + ": type text without \"text\"");
    parts.push_back({.kind = Part::Kind::text, .text = std::string(*text)});
    return true;
  }
  if (*type != "image" && *type != "image_url") {
    return fail(what + ": type " + in_quotes(*type) + "; text, image or image_url is expected");
  }
  const std::optional<std::string_view> reference = *type == "image" ? image : image_url;
  if (!reference) return fail(what + ": type " + std::string(*type) + " without a picture");
  return add_picture(*reference, parts);
}

bool LineParser::parse_content(ondemand::value value, const std::string& what,
                               std::vector<Part>& parts) {
  ondemand::json_type type{};
  if (!type_of(value, type)) return false;
  if (type == ondemand::json_type::string) {
    std::string_view text;
    if (!read_string(value, what, text)) return false;
    parts.push_back({.kind = Part::Kind::text, .text = std::string(text)});
    return true;
  }
  if (type != ondemand::json_type::array) {
    return fail_type(what + ": \"content\"", "a string or a list of parts", type);
  }
  return each_element(value, [&](ondemand::value part, size_t number) {
    return parse_part(part, what + ", part " + std::to_string(number), parts);
  });
}

bool LineParser::parse_role(std::string_view text, const std::string& what, Message& message) {
  if (text == "system") {
    message.role = Message::Role::system;
  } else if (text == "user") {
    message.role = Message::Role::user;
  } else if (text == "assistant") {
    message.role = Message::Role::assistant;
  } else {
    return fail(what + ": role " + in_quotes(text) + "; system, user or assistant is expected");
  }
  return true;
}

bool LineParser::parse_message(ondemand::value value, const std::string& what) {
  ondemand::object object;
  if (!to_object(value, what, object)) return false;
  Message message;
  std::optional<std::string_view> role;
  bool has_content = false;
  const bool is_read = each_member(object, [&](std::string_view key, ondemand::value member) {
    if (key == "role") return read_optional(member, what + ": \"role\"", role);
    if (key != "content") return true;
    if (std::exchange(has_content, true)) return fail(what + ": \"content\" stands twice");
    return parse_content(member, what, message.parts);
  });
  if (!is_read) return false;
  if (!role) return fail(what + ": no \"role\"");
  if (!has_content) return fail(what + ": no \"content\"");
  if (!parse_role(*role, what, message)) return false;
  example_.messages.push_back(std::move(message));
  return true;
}

// Each answer must have something to learn, and there must be one.
bool LineParser::check_turns() {
  bool has_answer = false;
  for (size_t i = 0; i < example_.messages.size(); ++i) {
    const Message& message = example_.messages[i];
    if (message.role != Message::Role::assistant) continue;
    has_answer = true;
    const std::string what = "message " + std::to_string(i + 1);
    bool is_empty = true;
    for (const Part& part : message.parts) {
      if (part.kind == Part::Kind::image) return fail(what + ": a picture in an answer");
      if (!trim(part.text).empty()) is_empty = false;
    }
    if (is_empty) return fail(what + ": the answer is empty");
  }
  return has_answer ? true : fail("no message of the assistant: nothing to learn");
}

bool LineParser::parse_messages(ondemand::object root) {
  bool is_seen = false;
  const bool is_read = each_member(root, [&](std::string_view key, ondemand::value value) {
    if (key != "messages") return true;
    if (std::exchange(is_seen, true)) return fail("\"messages\" stands twice");
    ondemand::json_type type{};
    if (!type_of(value, type)) return false;
    if (type != ondemand::json_type::array) return fail_type("\"messages\"", "a list", type);
    return each_element(value, [&](ondemand::value message, size_t number) {
      return parse_message(message, "message " + std::to_string(number));
    });
  });
  return is_read && check_turns();
}

bool LineParser::parse(std::string& line) {
  const size_t size = line.size();
  line.append(simdjson::SIMDJSON_PADDING, '\0');
  ondemand::parser parser;
  ondemand::document document;
  if (const auto code = parser.iterate(line.data(), size, line.size()).get(document)) {
    return fail_json(code);
  }
  ondemand::json_type type{};
  if (!type_of(document, type)) return false;
  if (type != ondemand::json_type::object) {
    return fail("an object {...} is expected in every line, found " + std::string(type_name(type)));
  }
  ondemand::object root;
  if (const auto code = document.get_object().get(root)) return fail_json(code);
  bool is_messages = false;
  const bool is_read = each_member(root, [&](std::string_view key, ondemand::value /*value*/) {
    if (key == "messages") is_messages = true;
    return true;
  });
  if (!is_read) return false;
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
    return fail("not JSON: something follows the object");
  }
  document.rewind();
  if (const auto code = document.get_object().get(root)) return fail_json(code);
  return is_messages ? parse_messages(root) : parse_simple(root);
}

}  // namespace

Result<Example> parse_example_line(std::string line, const DatasetOptions& options,
                                   const PictureReader& read_picture) {
  LineParser parser(options, read_picture);
  if (!parser.parse(line)) return parser.error();
  return parser.take();
}

}  // namespace plateau::train
