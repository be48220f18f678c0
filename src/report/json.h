// SPDX-License-Identifier: Apache-2.0
// A verdict for programs: one JSON object on one line. docs/report-fields.md explains each key.
//
// The keys of docs/design.md come first and in its order; what is unknown is null, never left out.
// Keys after `evidence` are additions; "schema" changes when a key changes its meaning.
#pragma once

#include <string>

#include "verdict/verdict.h"

namespace plateau {

// Without a line end.
std::string verdict_json(const Verdict& verdict);

}  // namespace plateau
