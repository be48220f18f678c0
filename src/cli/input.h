// SPDX-License-Identifier: Apache-2.0
// What judge and convert share: which files are meant, and reading them with progress.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "command/verb.h"
#include "import/following_source.h"
#include "import/reading_wishes.h"
#include "recording/run.h"

namespace plateau {

// The FILE argument and the --format option, as both verbs declare them.
Positional input_positional();
Options input_options();  // --format, --memory, --clock, --series, --unit

// A paragraph for help that says what each format is.
std::string formats_explained();

// The files given; "-" alone if none was and standard input is not a terminal.
Result<std::vector<std::string>> files_of(const Invocation& invocation);

// Imports one file, following those options and showing progress; what they leave open may be
// remembered in a .plateau.toml (reading_file.h). Fails also if no run holds a sample. `account`
// gets how it was read.
Result<std::vector<Run>> read_runs(const Invocation& invocation, const std::string& file,
                                   std::vector<std::string>* account = nullptr,
                                   std::optional<Following> following = std::nullopt);

// What the options say about how a log is to be read.
Result<ReadingWishes> wishes_of(const Arguments& arguments);

}  // namespace plateau
