// SPDX-License-Identifier: Apache-2.0
// Hugging Face trainer_state.json: one document whose log_history is a list of records. A bare
// array of records is read the same way. The document is parsed whole (see LineReader).
#include <simdjson.h>

#include <fmt/format.h>

#include <string>

#include "import/json_records.h"
#include "import/readers.h"

namespace plateau {
namespace {

Error not_json(std::string_view why) {
  return {Error::Kind::bad_input, fmt::format("holds JSON that cannot be parsed: {}", why)};
}

void read_fact(RunBuilder& builder, simdjson::dom::object document, const char* key,
               std::optional<Fact> Context::* fact) {
  double value = 0;
  if (document[key].get(value) == simdjson::SUCCESS) builder.fact(fact, value, key);
}

}  // namespace

Result<Runs> read_trainer_state(LineReader& lines) {
  Result<std::string> text = lines.read_all(simdjson::SIMDJSON_PADDING);
  if (!text.ok()) return text.error();
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  const std::string& json = text.value();
  const auto failed = parser.parse(json.data(), json.size(), false).get(root);
  if (failed != simdjson::SUCCESS) return not_json(simdjson::error_message(failed));

  RunBuilder builder("trainer state");
  simdjson::dom::array history;
  simdjson::dom::object document;
  if (root.get(document) == simdjson::SUCCESS) {
    if (document["log_history"].get(history) != simdjson::SUCCESS) return Runs{};
    read_fact(builder, document, "max_steps", &Context::total_steps);
  } else if (root.get(history) != simdjson::SUCCESS) {
    return Runs{};
  }
  JsonRecords records(builder);
  size_t number = 0;
  for (const simdjson::dom::element entry : history) {
    simdjson::dom::object object;
    ++number;
    if (entry.get(object) == simdjson::SUCCESS) records.add(object, number);
  }
  return builder.finish(number);
}

}  // namespace plateau
