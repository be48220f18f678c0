// SPDX-License-Identifier: Apache-2.0
// The two JSON files of a checkpoint: trainer_state.json in the form of transformers, and
// plateau_state.json with what that form has no place for. docs/formats/checkpoint.md.
//
// Numbers are written so that they read back as the same double.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "trainer/loop/checkpoint.h"

namespace plateau::train {

std::string trainer_state_json(const TrainerState& state);
std::string plateau_state_json(const TrainerState& state);
// `where` is for the message. Never trusts the text: any bytes give a state or an Error.
Result<TrainerState> parse_state(std::string_view trainer_json, std::string_view plateau_json,
                                 const std::string& where);

// One-line JSON with line breaks and two spaces a level, as Python's json.dumps(indent=2) has it.
std::string indented(std::string_view json);

}  // namespace plateau::train
