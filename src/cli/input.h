// SPDX-License-Identifier: Apache-2.0
// What judge and convert share: which files are meant, and reading them with progress.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "command/verb.h"
#include "recording/run.h"

namespace plateau {

// The FILE argument and the --format option, as both verbs declare them.
Positional input_positional();
Option format_option();

// A paragraph for help that says what each format is.
std::string formats_explained();

// The files given; "-" alone if none was and standard input is not a terminal.
Result<std::vector<std::string>> files_of(const Invocation& invocation);

// Imports one file, following --format and showing progress. Fails also if no run holds a sample.
Result<std::vector<Run>> read_runs(const Invocation& invocation, const std::string& file);

}  // namespace plateau
