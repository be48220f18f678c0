// SPDX-License-Identifier: Apache-2.0
#include "import/json_document.h"

#include <fmt/format.h>

#include <string>

namespace plateau {

Result<simdjson::dom::element> read_json_document(LineReader& lines,
                                                  simdjson::dom::parser& parser) {
  const Result<std::string> text = lines.read_all(simdjson::SIMDJSON_PADDING);
  if (!text.ok()) return text.error();
  const std::string& json = text.value();
  simdjson::dom::element root;
  const auto failed = parser.parse(json.data(), json.size(), false).get(root);
  if (failed == simdjson::SUCCESS) return root;
  return Error{Error::Kind::bad_input, fmt::format("holds JSON that cannot be parsed: {}",
                                                   simdjson::error_message(failed))};
}

}  // namespace plateau
