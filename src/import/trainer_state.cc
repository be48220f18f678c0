// SPDX-License-Identifier: Apache-2.0
// Hugging Face trainer_state.json: one document whose log_history is a list of records. A bare
// array of records is read the same way.
#include <simdjson.h>

#include <string>

#include "import/json_document.h"
#include "import/json_records.h"
#include "import/readers.h"

namespace plateau {
namespace {

void read_fact(RunBuilder& builder, simdjson::dom::object document, const char* key,
               FactField fact) {
  double value = 0;
  if (document[key].get(value) == simdjson::SUCCESS) builder.fact(fact, value, key);
}

}  // namespace

Result<Runs> read_trainer_state(LineReader& lines) {
  simdjson::dom::parser parser;
  const Result<simdjson::dom::element> parsed = read_json_document(lines, parser);
  if (!parsed.ok()) return parsed.error();
  const simdjson::dom::element root = parsed.value();
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
