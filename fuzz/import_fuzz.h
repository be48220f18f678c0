// SPDX-License-Identifier: Apache-2.0
// What every import fuzzer checks: whatever the bytes, each Run has its shape, finite or missing
// values that are not negative, and a tidy CSV that can be written.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "import/import.h"
#include "import/run_builder.h"
#include "recording/checks_for_test.h"
#include "recording/tidy_csv.h"

namespace plateau {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

inline void fuzz_import(const uint8_t* data, size_t size, const char* format) {
  ImportOptions options;
  options.format = format;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto runs = import_bytes("fuzz", bytes, options);
  if (!runs.ok()) {
    require(!runs.error().message.empty(), "an error has a message");
    return;
  }
  require(!runs.value().empty(), "success has runs");
  for (const Run& run : runs.value()) {
    require(check_shape(run).empty(), "every run has its shape");
    require(!run.instants.empty(), "every run has samples");
    for (const Series& series : run.series) {
      for (const double mb : series.mb) {
        require(std::isnan(mb) || (mb >= 0 && mb <= kMaxMb), "memory is missing or sensible");
      }
    }
    for (const Gauge& gauge : run.gauges) {
      for (const double value : gauge.value) {
        require(std::isnan(value) || (std::isfinite(value) && value >= 0), "gauges are sensible");
      }
    }
    for (const Instant& at : run.instants) {
      require(at.step >= -1 && !std::isinf(at.time_s) && !std::isinf(at.epoch), "clocks are sane");
    }
  }
  require(!tidy_csv(runs.value()).empty(), "runs can be written");
}

}  // namespace plateau
