// SPDX-License-Identifier: Apache-2.0
// Writes a file so that a reader sees all of it or none of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "command/verb.h"

namespace plateau {

// Writes `bytes` beside `path` and moves them into place. An existing file is replaced only with
// `overwrite`; pipes and devices are written to directly. Returns what went wrong, if anything.
std::optional<Error> write_file(const std::string& path, std::string_view bytes, bool overwrite);

// `bytes` to where --output says, standard output by default; --force replaces a file. Says what
// went wrong; returns the exit code.
int write_output(const Invocation& invocation, std::string_view bytes);

}  // namespace plateau
