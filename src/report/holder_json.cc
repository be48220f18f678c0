// SPDX-License-Identifier: Apache-2.0
#include "report/holder_json.h"

#include <optional>
#include <span>
#include <string>

namespace plateau {
namespace {

void held(JsonWriter& json, const HeldType& type) {
  json.value(json_object("type", type.type, "count", type.count, "tensor", type.tensor));
}

template <typename Number>
std::optional<Number> known_from(Number least, Number number) {
  return number >= least ? std::optional(number) : std::nullopt;
}

void adding(JsonWriter& json, const SourceLine& line) {
  json.value(json_object("file", line.file, "line", line.line, "made_line",
                         known_from(1, line.made_line)));
}

}  // namespace

void write_holder(JsonWriter& json, const Holder& holder) {
  json.begin_object();
  json.members("path", holder.path, "kind", std::string(holder_kind_name(holder.kind)));
  json.members("type", holder.type, "containers", holder.containers);
  json.members("length_before", holder.length_before, "length_after", holder.length_after);
  json.members("grew", holder.grew(), "new", holder.is_new, "chain", holder.chain);
  json.members("holds", json_list(std::span(holder.holds), held), "looked_at", holder.looked_at);
  json.members("tensors_looked_at", holder.tensors_looked_at);
  json.members("tensors_with_graph", holder.tensors_with_graph, "owner", holder.owner);
  json.members("module", holder.module, "function", holder.function, "file", holder.file);
  json.members("line", holder.line);
  json.members("graph_depth", known_from<int64_t>(0, holder.graph_depth));
  json.members("graph_depth_before", known_from<int64_t>(0, holder.graph_depth_before));
  json.members("added_at", json_list(std::span(holder.added_at), adding));
  json.end_object();
}

}  // namespace plateau
