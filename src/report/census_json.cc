// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/json_writer.h"
#include "report/census.h"
#include "report/holder_json.h"

namespace plateau {
namespace {

constexpr int kSchema = 1;

// The first `top` of a list; all of it if that is 0.
template <typename Type>
std::span<const Type> shown(const std::vector<Type>& types, size_t top) {
  return std::span(types).first(top == 0 ? types.size() : std::min(top, types.size()));
}

void head(JsonWriter& json, const Census& census) {
  json.members("schema", kSchema, "pid", census.pid);
  json.members("python", fmt::format("3.{}", census.minor));
}

void totals(JsonWriter& json, const Census& census) {
  uint64_t tensors = 0;
  for (const TypeCount& type : census.types) tensors += type.tensor ? type.objects : 0;
  json.members("objects", census.objects, "type_count", census.types.size(), "tensors", tensors);
  json.members("unreadable", census.unreadable, "stopped_ms", census.stopped_s * 1000);
  json.members("bytes_read", census.bytes_read);
}

void type_counted(JsonWriter& json, const TypeCount& type) {
  json.value(json_object("type", type.type, "objects", type.objects, "bytes", type.bytes, "tensor",
                         type.tensor));
}

void type_grown(JsonWriter& json, const TypeGrowth& type) {
  json.value(json_object("type", type.type, "objects_grown", type.objects_grown(), "objects_before",
                         type.objects_before, "objects_after", type.objects_after, "bytes_grown",
                         type.bytes_grown(), "bytes_before", type.bytes_before, "bytes_after",
                         type.bytes_after, "tensor", type.tensor));
}

void holders_of(JsonWriter& json, const HolderFindings& found) {
  json.members("holders", json_list(std::span(found.holders), write_holder));
  json.members("objects_reached", found.objects_reached, "holders_trouble", found.trouble);
}

}  // namespace

std::string census_json(const Census& census, size_t top) {
  JsonWriter json;
  json.begin_object();
  head(json, census);
  totals(json, census);
  holders_of(json, census.holders);
  json.members("types", json_list(shown(census.types, top), type_counted));
  return json.end_object().take();
}

std::string census_growth_json(const CensusPair& pair, size_t top) {
  const CensusGrowth growth = compare_census(pair.before, pair.after);
  JsonWriter json;
  json.begin_object();
  head(json, pair.after);
  json.members("seconds", pair.seconds).key("before").begin_object();
  totals(json, pair.before);
  json.end_object().key("after").begin_object();
  totals(json, pair.after);
  json.end_object();
  holders_of(json, pair.after.holders);
  json.members("types", json_list(shown(growth.types, top), type_grown));
  return json.end_object().take();
}

}  // namespace plateau
