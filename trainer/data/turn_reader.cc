// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/turn_reader.h"

#include <algorithm>
#include <utility>

namespace plateau::train {

namespace ondemand = simdjson::ondemand;

bool is_among(std::string_view key, std::initializer_list<std::string_view> keys) {
  return std::ranges::find(keys, key) != keys.end();
}

bool TurnReader::add_picture(std::string_view reference) {
  Result<PictureSource> picture = read_picture_(reference, draft_.pictures.size() + 1);
  if (!picture) return fail(picture.error().message);
  draft_.pictures.push_back(std::move(picture.value()));
  return true;
}

void TurnReader::add_turn(Message::Role role, std::string_view text, size_t at) {
  Message message{.role = role};
  message.parts.push_back({.kind = Part::Kind::text, .text = std::string(text)});
  const auto place = static_cast<std::ptrdiff_t>(std::min(at, draft_.messages.size()));
  draft_.messages.insert(draft_.messages.begin() + place, std::move(message));
}

// A reference, or {"path": ..., "bytes": ...} as datasets writes pictures.
bool TurnReader::read_picture_value(Value value, const std::string& what,
                                    std::optional<std::string_view>& out) {
  Type type = Type::null;
  if (!type_of(value, type)) return false;
  if (type != Type::object) return read_optional(value, what, out);
  ondemand::object object;
  if (!to_object(value, what, object)) return false;
  std::optional<std::string_view> path;
  std::optional<std::string_view> bytes;
  const bool is_read = each_member(object, [&](std::string_view key, Value member) {
    const std::string named = what + ": " + in_quotes(key);
    if (key == "bytes") return read_optional(member, named, bytes);
    if (is_among(key, {"path", "url"})) return read_optional(member, named, path);
    return true;
  });
  if (!is_read) return false;
  if (out && (bytes || path)) return fail(what + " stands twice");
  if (bytes || path) out = bytes ? bytes : path;
  return true;
}

bool TurnReader::read_part(Value value, const std::string& what, std::vector<Part>& parts) {
  ondemand::object object;
  if (!to_object(value, what, object)) return false;
  std::optional<std::string_view> type;
  std::optional<std::string_view> text;
  std::optional<std::string_view> image;
  std::optional<std::string_view> image_url;
  const bool is_read = each_member(object, [&](std::string_view key, Value member) {
    const std::string named = what + ": " + in_quotes(key);
    if (key == "type") return read_optional(member, named, type);
    if (key == "text") return read_optional(member, named, text);
    if (is_among(key, {"image", "path", "base64", "url"})) {
      return read_picture_value(member, named, image);
    }
    if (key == "image_url") return read_picture_value(member, named, image_url);
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
  const std::optional<std::string_view> reference = image_url ? image_url : image;
  const size_t index = reference ? draft_.pictures.size() : kBeside;
  parts.push_back({.kind = Part::Kind::image, .image = index});
  return !reference || add_picture(*reference);
}

bool TurnReader::read_content(Value value, const std::string& what, std::vector<Part>& parts) {
  Type type = Type::null;
  if (!type_of(value, type)) return false;
  if (type == Type::string) {
    std::string_view text;
    if (!read_string(value, what, text)) return false;
    parts.push_back({.kind = Part::Kind::text, .text = std::string(text)});
    return true;
  }
  if (type != Type::array) {
    return fail_type(what + ": \"content\"", "a string or a list of parts", type);
  }
  return each_element(value, what, [&](Value part, size_t number) {
    return read_part(part, what + ", part " + std::to_string(number), parts);
  });
}

bool TurnReader::read_role(std::string_view text, const std::string& what, Message& message) {
  if (text == "system") {
    message.role = Message::Role::system;
  } else if (is_among(text, {"user", "human"})) {
    message.role = Message::Role::user;
  } else if (is_among(text, {"assistant", "gpt", "model"})) {
    message.role = Message::Role::assistant;
  } else {
    return fail(what + ": role " + in_quotes(text) + "; system, user or assistant is expected");
  }
  return true;
}

// "loss": false, "train": false, "weight": 0: an answer that is shown and not learned.
bool TurnReader::read_learned(std::string_view key, Value value, const std::string& what) {
  Type type = Type::null;
  bool is_set = true;
  if (!type_of(value, type)) return false;
  if (type != Type::null && !read_is_set(value, is_set)) return false;
  return is_set || fail(what + ": " + in_quotes(key) +
                        " is off; every answer is learned here, leave the turn out");
}

bool TurnReader::read_message(Value value, const std::string& what) {
  ondemand::object object;
  if (!to_object(value, what, object)) return false;
  Message message;
  std::optional<std::string_view> role;
  bool has_content = false;
  const bool is_read = each_member(object, [&](std::string_view key, Value member) {
    if (is_among(key, {"role", "from"})) {
      return read_optional(member, what + ": " + in_quotes(key), role);
    }
    if (is_among(key, {"loss", "train", "weight"})) return read_learned(key, member, what);
    if (is_among(key, {"tool_calls", "function_call"})) {
      return refuse_if_set(key, member, "calls of tools are not supported");
    }
    if (!is_among(key, {"content", "value"})) return true;
    if (std::exchange(has_content, true)) return fail(what + ": \"content\" stands twice");
    return read_content(member, what, message.parts);
  });
  if (!is_read) return false;
  if (!role) return fail(what + ": no \"role\"");
  if (!has_content) return fail(what + ": no \"content\"");
  if (!read_role(*role, what, message)) return false;
  draft_.messages.push_back(std::move(message));
  return true;
}

bool TurnReader::read_turns(Value value, const std::string& what) {
  return each_element(value, what, [&](Value message, size_t /*number*/) {
    return read_message(message, "message " + std::to_string(draft_.messages.size() + 1));
  });
}

bool TurnReader::refuse_if_set(std::string_view key, Value value, const std::string& why) {
  bool is_set = false;
  if (!read_is_set(value, is_set)) return false;
  return is_set ? fail(in_quotes(key) + ": " + why) : true;
}

}  // namespace plateau::train
