// SPDX-License-Identifier: Apache-2.0
// Where the records of a dataset in CSV lie (dataset/csv_record.h); the first one names the fields.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dataset/csv_record.h"
#include "dataset/record_places.h"

namespace plateau::train {

class CsvFinder {
 public:
  // As RecordFinder: what is wrong, with its line.
  std::optional<std::string> add(std::span<const char> block);
  std::optional<std::string> finish();
  // The header among them.
  std::vector<RecordPlace> take();

 private:
  void close();

  uint64_t begin_ = 0;
  uint64_t offset_ = 0;
  uint32_t line_ = 1;
  uint32_t begin_line_ = 1;
  CsvScanner scanner_;
  bool is_blank_ = true;
  std::vector<RecordPlace> places_;
};

}  // namespace plateau::train
