// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/line_json.h"

namespace plateau::train {

std::string in_quotes(std::string_view text) {
  constexpr size_t kShown = 60;
  if (text.size() <= kShown) return '"' + std::string(text) + '"';
  return '"' + std::string(text.substr(0, kShown)) + "...\"";
}

std::string_view name_of(simdjson::ondemand::json_type type) {
  using simdjson::ondemand::json_type;
  switch (type) {
    case json_type::array:
      return "a list";
    case json_type::object:
      return "an object";
    case json_type::number:
      return "a number";
    case json_type::string:
      return "a string";
    case json_type::boolean:
      return "true or false";
    case json_type::null:
      return "null";
  }
  return "something else";
}

bool LineJson::fail_json(simdjson::error_code code) {
  if (code == simdjson::UTF8_ERROR) return fail("not valid UTF-8");
  return fail(std::string("not JSON: ") + simdjson::error_message(code));
}

bool LineJson::to_object(Value value, const std::string& what, simdjson::ondemand::object& out) {
  Type type{};
  if (!type_of(value, type)) return false;
  if (type != Type::object) return fail_type(what, "an object", type);
  const simdjson::error_code code = value.get_object().get(out);
  return code ? fail_json(code) : true;
}

bool LineJson::read_string(Value value, const std::string& what, std::string_view& out) {
  Type type{};
  if (!type_of(value, type)) return false;
  if (type != Type::string) return fail_type(what, "a string", type);
  const simdjson::error_code code = value.get_string().get(out);
  return code ? fail_json(code) : true;
}

bool LineJson::read_optional(Value value, const std::string& what,
                             std::optional<std::string_view>& out) {
  Type type{};
  if (!type_of(value, type)) return false;
  if (type == Type::null) return true;
  std::string_view text;
  if (!read_string(value, what, text)) return false;
  if (out) return fail(what + " stands twice");
  out = text;
  return true;
}

bool LineJson::read_is_set(Value value, bool& is_set) {
  Type type{};
  if (!type_of(value, type)) return false;
  const auto raw = [&] {
    std::string_view json = value.raw_json_token();
    while (!json.empty() && json.back() <= ' ') json.remove_suffix(1);
    return json;
  };
  switch (type) {
    case Type::null:
      is_set = false;
      return true;
    case Type::boolean:
      is_set = raw().starts_with('t');
      return true;
    case Type::number:
      is_set = raw() != "0" && raw() != "0.0";
      return true;
    case Type::string:
      is_set = raw() != "\"\"";
      return true;
    case Type::array: {
      simdjson::ondemand::array list;
      bool is_empty = true;
      simdjson::error_code code = value.get_array().get(list);
      if (!code) code = list.is_empty().get(is_empty);
      is_set = !is_empty;
      return code ? fail_json(code) : true;
    }
    case Type::object: {
      simdjson::ondemand::object object;
      bool is_empty = true;
      simdjson::error_code code = value.get_object().get(object);
      if (!code) code = object.is_empty().get(is_empty);
      is_set = !is_empty;
      return code ? fail_json(code) : true;
    }
  }
  return true;
}

}  // namespace plateau::train
