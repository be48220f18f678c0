// SPDX-License-Identifier: Apache-2.0
// What the reader hands to the server: everything that is known of the runs at one moment. Never
// changed once it is handed over, so both threads may look at it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "serve/metrics.h"
#include "serve/run_facts.h"

namespace plateau {

// A page's document as it is sent; shared, because a slow client may take it for long.
struct PageBytes {
  std::shared_ptr<const std::string> plain;
  std::shared_ptr<const std::string> packed;  // gzip.
};

struct ServedRun {
  RunFacts facts;
  std::string summary;  // run_summary_json() of the facts,
  std::string state;    // and with its version.
  PageBytes page;       // Empty until somebody has asked for it.
  // For /metrics, by Dialect; shared by entries that differ in the page only.
  std::shared_ptr<const std::array<MetricsText, 2>> metrics;
};

// Two runs side by side, as somebody has asked for them.
struct Compared {
  std::string ids;       // "before,after"
  std::string document;  // The page's, empty if there was trouble.
  std::optional<Error> trouble;
};

struct Catalogue {
  std::vector<std::shared_ptr<const ServedRun>> runs;  // Newest first.
  bool complete = false;                               // Every file has been tried.
  std::shared_ptr<const Compared> compared;            // The last one made; may be null.

  // "": the newest. nullptr if there is none.
  [[nodiscard]] const ServedRun* find(std::string_view id) const {
    for (const std::shared_ptr<const ServedRun>& run : runs) {
      if (id.empty() || run->facts.id == id) return run.get();
    }
    return nullptr;
  }
};

}  // namespace plateau
