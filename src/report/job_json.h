// SPDX-License-Identifier: Apache-2.0
// What `--json` says of a job of many ranks, and of the part that one recording is of it.
#pragma once

#include "base/json_writer.h"
#include "verdict/verdict.h"

namespace plateau {

// Keys "launched" and "job" of docs/formats/answer.md.
void write_job(JsonWriter& json, const Verdict& verdict);

}  // namespace plateau
