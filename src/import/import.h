// SPDX-License-Identifier: Apache-2.0
// Foreign logs in, Runs out: the door of this room.
//
// The format is recognised by content, never by file name; ImportOptions::format overrides. Input
// may be gzip or zstd, also recognised by content. A file may hold several runs (a step that goes
// back starts a new one); they come in file order. Lines that look like data but cannot be read
// are counted in Run::lines_bad with the first few quoted, and are never fatal.
//
// Memory: text formats are read in chunks, so it is bounded by what was understood, not by the
// file. Nothing here prints or exits. Not synchronised; callers own the results.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "import/following_source.h"
#include "import/reading_wishes.h"
#include "recording/run.h"

namespace plateau {

struct ImportOptions {
  std::string format = "auto";         // Or a name from import_formats().
  ReadingWishes wishes;                // What the user says about columns, clock, series, unit.
  std::optional<Following> following;  // For a log that is still being written.
  std::vector<std::string>* account = nullptr;  // Gets how the file was read, for a user.
  // Called now and then with compressed bytes consumed and the total (0 if unknown).
  std::function<void(uint64_t done, uint64_t total)> progress;
};

struct FormatInfo {
  std::string_view name;     // "text", "csv", "jsonl", "mprof", ...
  std::string_view summary;  // One line for --help.
};
const std::vector<FormatInfo>& import_formats();

// Reads a file, a folder of runs (run_folder.h), or standard input for "-". Fails with a single
// sentence that names the file, what was looked for, and the line where that makes sense.
Result<std::vector<Run>> import_file(const std::string& path, const ImportOptions& options = {});

// The same from memory; `name` is used in messages and as Run::source.
Result<std::vector<Run>> import_bytes(std::string_view name, std::string_view bytes,
                                      const ImportOptions& options = {});

}  // namespace plateau
