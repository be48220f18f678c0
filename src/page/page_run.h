// SPDX-License-Identifier: Apache-2.0
// One run on its way to the page: judged, its columns formed, what is drawn of it chosen. And the
// parts of its document, one function a subject; each writes keys into the object that is open.
//
// Private to this room. Not thread-safe while being made; const functions share nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "page/page_data.h"
#include "page/thinning.h"
#include "report/profile.h"
#include "verdict/signal.h"

namespace plateau {

struct PageRun {
  const Run* run = nullptr;
  const PageOptions* options = nullptr;
  Verdict verdict;  // As `plateau judge` gives it.
  Verdict clean;    // The same, printable.
  Signals signals;
  std::unique_ptr<TreeColumns> columns;
  Thinning thinning;
  std::vector<size_t> shown;                 // Processes in the document, by index into the run.
  std::vector<std::optional<size_t>> place;  // Of each process of the run among `shown`.
  std::vector<HeapProfile> heaps;            // The one that answers for the verdict, then the sum.
  std::vector<std::string> left_out;         // What the bounds cost, a sentence each.
};

// Requires: `run` and `options` outlive the result.
PageRun make_page_run(const Run& run, const PageOptions& options);

// The whole object of one run.
void write_run(JsonWriter& json, PageRun& page);

// samples, x, time_s, lines, gauges.
void write_series(JsonWriter& json, PageRun& page);
// said.
void write_said(JsonWriter& json, const PageRun& page);
// floor, spikes, phases, marks, epochs, forecast, limit_mb.
void write_marks(JsonWriter& json, PageRun& page);
// processes.
void write_processes(JsonWriter& json, const PageRun& page);
// explanations, replay, knew_at, clocks.
void write_hindsight(JsonWriter& json, const PageRun& page);
// cost.
void write_cost(JsonWriter& json, const Run& run);
// heaps.
void write_heaps(JsonWriter& json, const PageRun& page);

// Profiles of the heaps to show. Fills Verdict::site like add_growth_site(). Reads symbol files.
std::vector<HeapProfile> profile_heaps(const Run& run, const Policy& policy, Verdict& verdict);

// Fills `shown` and `place`: at most a few hundred processes, those that grew or held most, with
// all their ancestors.
void choose_processes(PageRun& page);

// "level since step 83", "growing since step 12"; "" if it cannot be said. Requires: `clean`.
std::string since_of(const Verdict& verdict);

}  // namespace plateau
