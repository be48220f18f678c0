// SPDX-License-Identifier: Apache-2.0
// The reader that learns how a log is written: no list of formats, so every text is its business.
#include "import/mined_log.h"
#include "import_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  plateau::Reading reading = plateau::learn_reading(text, {});
  if (!reading.has_memory) return 0;
  plateau::LineReader lines(plateau::open_memory(text, {}));
  const auto runs = plateau::read_mined(lines, reading);
  plateau::require(runs.ok(), "learning never makes reading fail");
  plateau::require(!plateau::describe_reading(reading).empty(), "a reading can be told");
  for (const plateau::Run& run : runs.value()) {
    plateau::require(plateau::check_shape(run).empty(), "every run has its shape");
    for (const plateau::Series& series : run.series) {
      for (const double mb : series.mb) {
        plateau::require(std::isnan(mb) || (mb >= 0 && mb <= plateau::kMaxMb),
                         "memory is missing or sensible");
      }
    }
    for (const plateau::Instant& at : run.instants) {
      plateau::require(at.step >= -1 && !std::isinf(at.time_s), "clocks are sane");
    }
  }
  return 0;
}
