// SPDX-License-Identifier: Apache-2.0
#include "trace.h"

#include <simdjson.h>

#include <algorithm>

#include "import/import.h"

namespace plateau::bench {
namespace {

double number_or(const simdjson::dom::element& label, const char* key, double otherwise) {
  double value = 0;
  return label[key].get(value) == simdjson::SUCCESS ? value : otherwise;
}

std::string text_or(const simdjson::dom::element& label, const char* key) {
  std::string_view value;
  return label[key].get(value) == simdjson::SUCCESS ? std::string(value) : std::string();
}

}  // namespace

Result<std::vector<Trace>> load_traces(const std::string& directory) {
  simdjson::dom::parser parser;
  simdjson::dom::object labels;
  if (parser.load(directory + "/labels.json").get(labels) != simdjson::SUCCESS) {
    return Error{Error::Kind::bad_input, directory + "/labels.json: not readable as JSON"};
  }
  std::vector<Trace> traces;
  for (const auto& [name, label] : labels) {
    Trace trace;
    trace.name = name;
    trace.kind = text_or(label, "kind");
    trace.cause = text_or(label, "cause");
    trace.leak = text_or(label, "label") == "leak";
    trace.epoch_steps = number_or(label, "epoch_steps", 0);
    trace.ended_step = number_or(label, "ended_step", -1);
    trace.onset_step = number_or(label, "onset_step", 0);
    trace.rate_mb_per_step = number_or(label, "rate_mb_per_step", 0);
    trace.added_mb = trace.rate_mb_per_step * (number_or(label, "steps", 0) - trace.onset_step);
    Result<std::vector<Run>> runs = import_file(directory + "/" + trace.name + ".csv.gz");
    if (!runs) return runs.error();
    if (runs.value().size() != 1) {
      return Error{Error::Kind::bad_input, trace.name + ": expected one run in the trace"};
    }
    trace.run = std::move(runs.value().front());
    if (trace.epoch_steps > 0) trace.run.context.epoch_steps = Fact{trace.epoch_steps, "label"};
    traces.push_back(std::move(trace));
  }
  std::sort(traces.begin(), traces.end(),
            [](const Trace& a, const Trace& b) { return a.name < b.name; });
  return traces;
}

Run first_tenths(const Run& run, int tenth) {
  const auto first = static_cast<double>(run.instants.front().step);
  const auto last = static_cast<double>(run.instants.back().step);
  const double until = first + (last - first) * tenth / 10 + 1e-9;
  size_t count = 0;
  while (count < run.instants.size() && static_cast<double>(run.instants[count].step) <= until) {
    ++count;
  }
  return prefix_of(run, count);
}

}  // namespace plateau::bench
