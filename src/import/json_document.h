// SPDX-License-Identifier: Apache-2.0
// A file that is one JSON document, parsed whole.
#pragma once

#include <simdjson.h>

#include "base/result.h"
#include "import/line_reader.h"

namespace plateau {

// The rest of the input as a document. It lives in `parser`, until that parses again or goes away.
// Fails when the input is too large (LineReader::kMaxDocument) or is no JSON.
Result<simdjson::dom::element> read_json_document(LineReader& lines, simdjson::dom::parser& parser);

}  // namespace plateau
