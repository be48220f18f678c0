// SPDX-License-Identifier: Apache-2.0
#include "looks.h"

#include <cstdio>

#include "base/json_writer.h"
#include "rivals.h"
#include "score.h"
#include "verdict/verdict.h"

namespace plateau::bench {
namespace {

void write_look(const Verdict& verdict, int tenth, JsonWriter& json) {
  json.begin_object().members("tenth", tenth, "word", word_name(verdict.word), "odds",
                              verdict.leak_odds.all, "odds_of_shapes", verdict.leak_odds.shapes,
                              "samples", verdict.samples, "processes", verdict.processes.size());
  json.key("weights").begin_object();
  for (const Explanation& explanation : verdict.explanations) {
    json.members(explanation.name, explanation.weight);
  }
  json.end_object().end_object();
}

}  // namespace

void print_looks(const std::string& directory, const std::vector<Trace>& traces) {
  for (const Trace& trace : traces) {
    const Curve curve = tree_curve(trace.run);
    JsonWriter json;
    json.begin_object().members("directory", directory, "kind", trace.kind, "leak", trace.leak,
                                "added_mb", trace.added_mb, "epoch_steps", trace.epoch_steps, "at",
                                curve.at, "mb", curve.mb);
    json.key("looks").begin_array();
    for (int tenth = kFirstTenth; tenth <= 10; ++tenth) {
      write_look(judge(first_tenths(trace.run, tenth)), tenth, json);
    }
    json.end_array().end_object();
    std::puts(json.text().c_str());
  }
}

}  // namespace plateau::bench
