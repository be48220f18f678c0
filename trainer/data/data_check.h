// SPDX-License-Identifier: Apache-2.0
// Every example of a dataset is looked at before the first step: read, tokenised, its pictures
// decoded. Bad data is found in minutes, not in the third epoch.
//
// Cost: what one epoch costs to load, over all cores; nothing stays in memory. The result is kept
// in a file under the user's cache and holds as long as the dataset's bytes, the size and time of
// every picture file, and every setting that makes an example good or bad are the same. Blind
// spot: a picture file that is overwritten in place with the same size and time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "trainer/data/loader.h"

namespace plateau::train {

struct DataCheck {
  size_t examples = 0;
  std::vector<BadExample> bad;  // In the order of the dataset.
  bool is_remembered = false;   // From an earlier check.
  bool is_stopped = false;      // `goes_on` said no: not all were looked at.
};

struct DataCheckOptions {
  bool decodes = true;  // Else only the headers of pictures are read.
  int64_t threads = 1;
  std::filesystem::path cache;  // A directory for results, made if need be. Empty: none are kept.
  std::string tokenizer;        // What tells this tokenizer from another.
  // Told how many are done, now and then, from the calling thread. False stops the check.
  std::function<bool(size_t done)> goes_on = [](size_t /*done*/) { return true; };
};

DataCheck check_data(const Dataset& dataset, const Tokenizer& tokenizer,
                     const LoaderOptions& loader, const DataCheckOptions& options);

// $XDG_CACHE_HOME/plateau/data-check, or in ~/.cache; empty if neither is known.
std::filesystem::path data_check_cache();

}  // namespace plateau::train
