// SPDX-License-Identifier: Apache-2.0
// Findings as JSON: {"kind": "stopped-with-first-pass", "numbers": {"epoch_steps": 83},
// "names": {"source": "663 examples / 8 per step"}}; null for none. docs/formats/answer.md.
#pragma once

#include <vector>

#include "base/json_writer.h"
#include "verdict/finding.h"

namespace plateau {

void finding_json(JsonWriter& json, const Finding& finding);
void findings_json(JsonWriter& json, const std::vector<Finding>& findings);

}  // namespace plateau
