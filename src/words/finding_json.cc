// SPDX-License-Identifier: Apache-2.0
#include "words/finding_json.h"

#include "words/finding_table.h"

namespace plateau {

void finding_json(JsonWriter& json, const Finding& finding) {
  if (!finding) {
    json.null();
    return;
  }
  json.begin_object().key("kind").value(row_of(finding.kind).id).key("numbers").begin_object();
  for (const Number& number : finding.numbers) json.key(number.name).value(number.value);
  json.end_object().key("names").begin_object();
  for (const Name& name : finding.names) json.key(name.name).value(name.text);
  json.end_object().end_object();
}

void findings_json(JsonWriter& json, const std::vector<Finding>& findings) {
  json.begin_array();
  for (const Finding& finding : findings) finding_json(json, finding);
  json.end_array();
}

}  // namespace plateau
