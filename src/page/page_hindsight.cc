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
  // A weight is drawn as a height: three digits are more than a screen shows.
  const auto height = [&moment](const Explanation* column) {
    double weight = 0;
    for (const Explanation& each : moment.explanations) {
      if (each.name == column->name) weight += each.weight;
    }
    return std::round(weight * 1000) / 1000;
  };
  json.begin_object().members("x", Moment(moment.last_step), "verdict", word_name(moment.word));
  json.members("confidence", Rounded(value_if(moment.confidence != 0, moment.confidence)));
  json.members("forecast_mb", Rounded(member_of(moment.forecast, &Verdict::Forecast::plateau_mb)));
  json.members("weights", json_list(columns, height)).end_object();
}

void write_clocks(JsonWriter& json, const Verdict& verdict, const Detail& detail) {
  json.key("clocks").begin_array();
  for (size_t i = 0; i < detail.clocks.size(); ++i) {
    const ClockGrowth& each = detail.clocks[i];
    json.begin_object().members("clock", growth_clock_name(each.clock), "events", each.events);
    json.members("mb_per_event", Rounded(each.mb_per_event));
    json.members("low_mb", Rounded(member_of(each.range, &Interval::low)));
    json.members("high_mb", Rounded(member_of(each.range, &Interval::high)));
    json.members("share", Rounded(each.share), "share_expected", Rounded(each.share_expected));
    json.members("follows", each.follows);
    json.members("words", clock_growth_words(verdict, detail.clocks, i)).end_object();
  }
  json.end_array();
}

}  // namespace

void write_hindsight(JsonWriter& json, const PageRun& page) {
  const Detail none;
  const Detail& detail = page.answer->detail ? *page.answer->detail : none;
  const std::vector<const Explanation*> columns = columns_of(detail.moments, page.answer->verdict);
  const auto named = [&page](JsonWriter& each, const Explanation* of) {
    each.value(json_object("name", of->name, "words",
                           explanation_phrase(*of, page.answer->verdict.clock), "bounded",
                           of->bounded));
  };
  const auto moment = [&columns](JsonWriter& each, const Verdict& of) {
    write_moment_of(each, of, columns);
  };
  json.members("explanations", json_list(columns, named), "replay",
               json_list(detail.moments, moment), "knew_at", Moment(detail.knew_at));
  write_clocks(json, page.answer->verdict, detail);
}

}  // namespace plateau
