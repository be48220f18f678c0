// SPDX-License-Identifier: Apache-2.0
#include "report/holder_json.h"

#include <span>
#include <string>

namespace plateau {
namespace {

void held(JsonWriter& json, const HeldType& type) {
  json.value(json_object("type", type.type, "count", type.count, "tensor", type.tensor));
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
  json.end_object();
}

}  // namespace plateau
