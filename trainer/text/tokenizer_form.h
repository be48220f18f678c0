// SPDX-License-Identifier: Apache-2.0
// Whether a tokenizer.json asks for what we do: everything in it but the vocabulary.
#pragma once

#include <simdjson.h>

#include <optional>
#include <string>

namespace plateau::train {

// What is not understood, as the end of a sentence that begins with the file's name; nothing if the
// whole file is.
std::optional<std::string> unknown_in_tokenizer(const simdjson::dom::object& root);

}  // namespace plateau::train
