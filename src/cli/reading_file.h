// SPDX-License-Identifier: Apache-2.0
// What a user once said about a log, kept in a small .plateau.toml beside it or in a folder above.
//
//   # how to read train.log
//   [logs."train.log"]
//   memory = "max_mem"
//   unit = "MB"
//
// A section applies to logs whose name matches its pattern (*, ?); keys before the first section
// apply to all. The nearest file that says something about the log wins. It is written only when
// asked for (--remember), never over another. A file that others may change (group or world
// writable, or of another user who is not root) is left alone: it could hide a leak.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "import/reading_wishes.h"

namespace plateau {

// "KiB", "pages", "640MB": the MB of one. Fails with a sentence for the user.
Result<double> unit_named(std::string_view text);

// What is remembered about the log at `path`; nothing for standard input. Fails on a file that
// cannot be understood, naming it and the line.
Result<ReadingWishes> remembered_wishes(const std::string& path);

// Parses the text of such a file for a log called `name`; `file` is for messages.
Result<ReadingWishes> parse_reading_file(std::string_view text, std::string_view name,
                                         const std::string& file);

// Writes `wishes`, as the user gave them, into a new .plateau.toml beside `path`; its name.
Result<std::string> remember_wishes(const std::string& path, const ReadingWishes& wishes,
                                    std::string_view unit_text);

}  // namespace plateau
