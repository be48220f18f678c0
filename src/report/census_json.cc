// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/json_writer.h"
#include "report/census.h"

namespace plateau {
namespace {

constexpr int kSchema = 1;

size_t shown_of(size_t count, size_t top) {
  return top == 0 ? count : std::min(top, count);
}

void head(JsonWriter& json, const Census& census) {
  json.key("schema").value(kSchema).key("pid").value(census.pid);
  json.key("python").value(fmt::format("3.{}", census.minor));
}

void totals(JsonWriter& json, const Census& census) {
  uint64_t tensors = 0;
  for (const TypeCount& type : census.types) tensors += type.tensor ? type.objects : 0;
  json.key("objects").value(census.objects).key("type_count").value(census.types.size());
  json.key("tensors").value(tensors).key("unreadable").value(census.unreadable);
  json.key("stopped_ms").value(census.stopped_s * 1000);
  json.key("bytes_read").value(census.bytes_read);
}

}  // namespace

std::string census_json(const Census& census, size_t top) {
  JsonWriter json;
  json.begin_object();
  head(json, census);
  totals(json, census);
  json.key("types").begin_array();
  for (size_t i = 0; i < shown_of(census.types.size(), top); ++i) {
    const TypeCount& type = census.types[i];
    json.begin_object().key("type").value(type.type).key("objects").value(type.objects);
    json.key("bytes").value(type.bytes).key("tensor").value(type.tensor).end_object();
  }
  json.end_array().end_object();
  return json.take();
}

std::string census_growth_json(const CensusPair& pair, size_t top) {
  const CensusGrowth growth = compare_census(pair.before, pair.after);
  JsonWriter json;
  json.begin_object();
  head(json, pair.after);
  json.key("seconds").value(pair.seconds);
  json.key("before").begin_object();
  totals(json, pair.before);
  json.end_object().key("after").begin_object();
  totals(json, pair.after);
  json.end_object().key("types").begin_array();
  for (size_t i = 0; i < shown_of(growth.types.size(), top); ++i) {
    const TypeGrowth& type = growth.types[i];
    json.begin_object().key("type").value(type.type);
    json.key("objects_grown").value(type.objects_grown());
    json.key("objects_before").value(type.objects_before);
    json.key("objects_after").value(type.objects_after);
    json.key("bytes_grown").value(type.bytes_grown());
    json.key("bytes_before").value(type.bytes_before);
    json.key("bytes_after").value(type.bytes_after);
    json.key("tensor").value(type.tensor).end_object();
  }
  json.end_array().end_object();
  return json.take();
}

}  // namespace plateau
