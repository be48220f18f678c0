// SPDX-License-Identifier: Apache-2.0
// One run on its way to the page: answered, its columns formed, what is drawn of it chosen. And the
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
#include "verdict/signal.h"

namespace plateau {

struct PageRun {
  const Run* run = nullptr;
  const Answer* answer = nullptr;
  Verdict clean;  // The answer's, printable.
  Signals signals;
  std::unique_ptr<TreeColumns> columns;
  Thinning thinning;
  std::vector<size_t> shown;                 // Processes in the document, by index into the run.
  std::vector<std::optional<size_t>> place;  // Of each process of the run among `shown`.
  std::vector<std::string> left_out;         // What the bounds cost, a sentence each.
};

// Requires: `run` and `answer` outlive the result.
PageRun make_page_run(const Run& run, const Answer& answer);

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
// ranks: null unless the run is a job of several.
void write_ranks(JsonWriter& json, const PageRun& page);
// heaps.
void write_heaps(JsonWriter& json, const PageRun& page);

// Fills `shown` and `place`: at most a few hundred processes, those that grew or held most, with
// all their ancestors.
void choose_processes(PageRun& page);

}  // namespace plateau
