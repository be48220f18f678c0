// SPDX-License-Identifier: Apache-2.0
// A holder as one JSON object; docs/report-fields.md explains each key.
#pragma once

#include "base/json_writer.h"
#include "recording/holder.h"

namespace plateau {

void write_holder(JsonWriter& json, const Holder& holder);

}  // namespace plateau
