// SPDX-License-Identifier: Apache-2.0
// How the answer came about: the weights of the explanations along the run, when the answer was
// known, and which clock growth follows.
#include <algorithm>
#include <cmath>

#include "page/page_numbers.h"
#include "page/page_run.h"
#include "words/clock_words.h"
#include "words/sentence.h"

namespace plateau {
namespace {

// Every explanation that ever competed: those of the verdict by falling weight, then the others in
// the order in which they came.
std::vector<const Explanation*> columns_of(const std::vector<Verdict>& moments,
                                           const Verdict& verdict) {
  std::vector<const Explanation*> columns;
  const auto add = [&columns](const Verdict& from) {
    for (const Explanation& each : from.explanations) {
      const bool known =
          std::any_of(columns.begin(), columns.end(),
                      [&each](const Explanation* column) { return column->name == each.name; });
      if (!known) columns.push_back(&each);
    }
  };
  add(verdict);
  for (const Verdict& moment : moments) add(moment);
  return columns;
}

void write_moment_of(JsonWriter& json, const Verdict& moment,
                     const std::vector<const Explanation*>& columns) {
  json.begin_object().key("x");
  write_moment(json, moment.last_step);
  json.key("verdict").value(word_name(moment.word)).key("confidence");
  write_rounded(json, moment.confidence == 0 ? kMissing : moment.confidence);
  json.key("forecast_mb");
  write_rounded(json, moment.forecast ? moment.forecast->plateau_mb : kMissing);
  std::vector<double> weights(columns.size(), 0);
  for (const Explanation& each : moment.explanations) {
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i]->name == each.name) weights[i] += each.weight;
    }
  }
  json.key("weights").begin_array();
  // A weight is drawn as a height: three digits are more than a screen shows.
  for (const double weight : weights) json.value(std::round(weight * 1000) / 1000);
  json.end_array().end_object();
}

void write_clocks(JsonWriter& json, const Verdict& verdict, const Detail& detail) {
  json.key("clocks").begin_array();
  for (size_t i = 0; i < detail.clocks.size(); ++i) {
    const ClockGrowth& each = detail.clocks[i];
    json.begin_object().key("clock").value(growth_clock_name(each.clock));
    json.key("events").value(each.events).key("mb_per_event");
    write_rounded(json, each.mb_per_event);
    json.key("low_mb");
    write_rounded(json, each.range ? each.range->low : kMissing);
    json.key("high_mb");
    write_rounded(json, each.range ? each.range->high : kMissing);
    json.key("share");
    write_rounded(json, each.share);
    json.key("share_expected");
    write_rounded(json, each.share_expected);
    json.key("follows").value(each.follows).key("words");
    json.value(clock_growth_words(verdict, detail.clocks, i)).end_object();
  }
  json.end_array();
}

}  // namespace

void write_hindsight(JsonWriter& json, const PageRun& page) {
  const Detail none;
  const Detail& detail = page.answer->detail ? *page.answer->detail : none;
  const std::vector<const Explanation*> columns = columns_of(detail.moments, page.answer->verdict);
  json.key("explanations").begin_array();
  for (const Explanation* each : columns) {
    json.begin_object().key("name").value(each->name).key("words");
    json.value(explanation_phrase(*each, page.answer->verdict.clock));
    json.key("bounded").value(each->bounded).end_object();
  }
  json.end_array().key("replay").begin_array();
  for (const Verdict& moment : detail.moments) write_moment_of(json, moment, columns);
  json.end_array().key("knew_at");
  write_moment(json, detail.knew_at);
  write_clocks(json, page.answer->verdict, detail);
}

}  // namespace plateau
