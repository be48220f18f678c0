// SPDX-License-Identifier: Apache-2.0
#include "page/page_comparison.h"

#include "base/json_writer.h"
#include "page/page_numbers.h"
#include "report/compare.h"
#include "report/printable.h"
#include "report/text.h"

namespace plateau {
namespace {

// The interval of the difference. Step times and counts are tested as ratios; the same in their
// unit is the baseline times what the ratio is away from one.
std::optional<Interval> range_of(const Difference& difference, double before) {
  if (difference.range || !difference.ratio_range) return difference.range;
  return Interval{before * (difference.ratio_range->low - 1),
                  before * (difference.ratio_range->high - 1)};
}

void write_figure(JsonWriter& json, const Change& change, const FigureRow& row) {
  const auto index = static_cast<size_t>(row.kind);
  const std::optional<Figure>& before = change.before[index];
  const std::optional<Figure>& after = change.after[index];
  const std::optional<Difference>& difference = change.differences[index];
  std::optional<Interval> range;
  if (difference) range = range_of(*difference, before ? before->value : 0);
  json.begin_object().members("name", figure_name(row.kind), "title", row.title);
  json.members("unit", figure_unit(row.kind, change.clock));
  json.members("before", Rounded(member_of(before, &Figure::value)));
  json.members("after", Rounded(member_of(after, &Figure::value)));
  json.members("difference", Rounded(member_of(difference, &Difference::difference)));
  json.members("low", Rounded(member_of(range, &Interval::low)));
  json.members("high", Rounded(member_of(range, &Interval::high)));
  json.members("significant", difference && difference->significant).end_object();
}

void write_change(JsonWriter& json, const Comparison& comparison, const Change& change) {
  json.begin_object().members("side", change.side);
  json.members("headline", change_sentence(comparison, change), "component", change.component);
  json.members("clock", clock_unit(change.clock), "from", Moment(change.from));
  json.members("to", Moment(change.to), "level_from", Moment(change.level_from));
  json.key("figures").begin_array();
  // Runs that share no span have nothing to be measured over.
  const bool shared = change.to > change.from;
  for (const FigureRow& row : kFigureRows) {
    const auto index = static_cast<size_t>(row.kind);
    const bool known = change.before[index] || change.after[index];
    if (shared && known) write_figure(json, change, row);
  }
  json.end_array().members("warnings", json_list(warnings_of(change), printable)).end_object();
}

}  // namespace

std::string comparison_page_json(const Comparison& comparison) {
  const auto side = [&comparison](JsonWriter& json, const ComparedSide& side) {
    const std::vector<ptrdiff_t> run = {&side - comparison.sides.data()};
    json.value(json_object("name", side.name, "runs", run, "verdict", word_name(side.word)));
  };
  const auto change = [&comparison](JsonWriter& json, const Change& change) {
    write_change(json, comparison, change);
  };
  JsonWriter json;
  json.begin_object().members("outcome", outcome_name(comparison.outcome));
  json.members("stamp", comparison_stamp(comparison), "said", comparison_sentence(comparison));
  json.members("sides", json_list(comparison.sides, side));
  json.members("changes", json_list(comparison.changes, change));
  return json.members("text", render_comparison(comparison, View())).end_object().take();
}

}  // namespace plateau
