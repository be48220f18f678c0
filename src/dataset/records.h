// SPDX-License-Identifier: Apache-2.0
// The records of a dataset file, one after another: JSON lines, one JSON list, or CSV.
//
// The content decides, not the name, except for CSV. Parquet, Arrow and compressed files are
// refused with a sentence that says how to convert them (other_format.h). Files are read, never
// mapped: they may change or shrink meanwhile. Memory is bounded by the longest record, of CSV and
// of an object that holds a list by the file.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace plateau {

// Where a record begins, and which of a JSON list it is, both counted from 1. 0: there is no list;
// the line is not known.
struct RecordAt {
  size_t line = 0;
  size_t example = 0;
};
// "line 12", "line 12, example 3".
std::string text_of(const RecordAt& at);

// A record that is no JSON is handed over as its error, a phrase; the reading goes on behind it.
// Return false to stop.
using OnRecord =
    std::function<bool(const RecordAt& at, const Result<simdjson::dom::element>& record)>;
using OnProgress = std::function<void(uint64_t done, uint64_t total)>;

Result<void> each_record(const std::string& file, const OnRecord& on_record,
                         const OnProgress& progress);

// The records of a text, as each_record() cuts them: for tests and fuzzing.
Result<void> each_record_of(std::string_view text, bool is_csv, const OnRecord& on_record);

// The dataset files of `path`: itself, or those in a directory and its subdirectories, by name.
Result<std::vector<std::string>> dataset_files(const std::string& path);

}  // namespace plateau
