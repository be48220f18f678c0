// SPDX-License-Identifier: Apache-2.0
#include "trainer/text/jinja.h"

#include <simdjson.h>

#include <utility>

#include "trainer/text/jinja_reader.h"

namespace plateau::train {

namespace {

constexpr size_t kLongestRendering = size_t{64} << 20;
void render_nodes(const JinjaNodes& nodes, JinjaScope& scope, std::string& out);

void render_loop(const JinjaNode& node, const JinjaScope& scope, std::string& out) {
  const JinjaValue walked = node.value(scope);
  const auto* list = walked.as<JinjaValue::List>();
  if (list == nullptr) throw JinjaFailure{"a loop over something that is no list"};
  const auto size = static_cast<int64_t>((*list)->size());
  for (int64_t i = 0; i < size; ++i) {
    JinjaScope inner = scope;  // What a loop sets ends with its turn.
    auto loop = std::make_shared<std::map<std::string, JinjaValue>>();
    (*loop)["index"] = i + 1;
    (*loop)["index0"] = i;
    (*loop)["first"] = i == 0;
    (*loop)["last"] = i + 1 == size;
    (*loop)["length"] = size;
    inner["loop"] = JinjaValue(loop);
    inner[node.text] = (**list)[static_cast<size_t>(i)];
    render_nodes(node.bodies.front().second, inner, out);
  }
}

void assign_jinja(const JinjaNode& node, JinjaScope& scope) {
  JinjaValue value = node.value(scope);
  if (node.attribute.empty()) {
    scope[node.text] = std::move(value);
    return;
  }
  const auto found = scope.find(node.text);
  const auto* map = found == scope.end() ? nullptr : found->second.as<JinjaValue::Map>();
  if (map == nullptr) throw JinjaFailure{"{% set " + node.text + ".x %} of no namespace"};
  (**map)[node.attribute] = std::move(value);
}

void render_nodes(const JinjaNodes& nodes, JinjaScope& scope, std::string& out) {
  for (const JinjaNode& node : nodes) {
    if (out.size() > kLongestRendering) throw JinjaFailure{"the text becomes endless"};
    switch (node.kind) {
      case JinjaNode::Kind::text:
        out += node.text;
        break;
      case JinjaNode::Kind::output:
        out += node.value(scope).text();
        break;
      case JinjaNode::Kind::set:
        assign_jinja(node, scope);
        break;
      case JinjaNode::Kind::loop:
        render_loop(node, scope, out);
        break;
      case JinjaNode::Kind::branches:
        for (const auto& [condition, body] : node.bodies) {
          if (!condition(scope).is_true()) continue;
          render_nodes(body, scope, out);
          break;
        }
        break;
    }
  }
}

JinjaValue jinja_value_of(const simdjson::dom::element& element) {
  using simdjson::dom::element_type;
  switch (element.type()) {
    case element_type::OBJECT: {
      auto map = std::make_shared<std::map<std::string, JinjaValue>>();
      for (const auto& [key, value] : simdjson::dom::object(element)) {
        (*map)[std::string(key)] = jinja_value_of(value);
      }
      return map;
    }
    case element_type::ARRAY: {
      auto list = std::make_shared<std::vector<JinjaValue>>();
      for (const auto value : simdjson::dom::array(element)) list->push_back(jinja_value_of(value));
      return list;
    }
    case element_type::STRING:
      return std::string(std::string_view(element));
    case element_type::INT64:
      return int64_t(element);
    case element_type::BOOL:
      return bool(element);
    default:
      return JinjaValue::none();
  }
}

}  // namespace

Result<JinjaTemplate> JinjaTemplate::parse(std::string_view source) {
  Result<JinjaNodes> nodes = read_jinja(source);
  if (!nodes) return nodes.error();
  JinjaTemplate out;
  out.nodes_ = std::make_shared<const JinjaNodes>(std::move(nodes.value()));
  return out;
}

Result<std::string> JinjaTemplate::render(const JinjaScope& values) const {
  JinjaScope scope = values;
  std::string out;
  try {
    render_nodes(*nodes_, scope, out);
  } catch (const JinjaFailure& failure) {
    return Error{Error::Kind::bad_input, failure.message};
  }
  return out;
}

Result<JinjaScope> jinja_values_of_json(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(json.data(), json.size()).get_object().get(object) != simdjson::SUCCESS) {
    return Error{Error::Kind::bad_input, "not a JSON object"};
  }
  JinjaScope out;
  for (const auto& [key, value] : object) out[std::string(key)] = jinja_value_of(value);
  return out;
}

}  // namespace plateau::train
