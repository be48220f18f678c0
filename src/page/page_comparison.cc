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
  const auto number = [&json](std::string_view key, const std::optional<double>& value) {
    json.key(key);
    write_rounded(json, value);
  };
  std::optional<Interval> range;
  if (difference) range = range_of(*difference, before ? before->value : 0);
  json.begin_object().key("name").value(figure_name(row.kind)).key("title").value(row.title);
  json.key("unit").value(figure_unit(row.kind, change.clock));
  number("before", before ? std::optional(before->value) : std::nullopt);
  number("after", after ? std::optional(after->value) : std::nullopt);
  number("difference", difference ? std::optional(difference->difference) : std::nullopt);
  number("low", range ? std::optional(range->low) : std::nullopt);
  number("high", range ? std::optional(range->high) : std::nullopt);
  json.key("significant").value(difference && difference->significant).end_object();
}

void write_change(JsonWriter& json, const Comparison& comparison, const Change& change) {
  json.begin_object().key("side").value(change.side);
  json.key("headline").value(change_sentence(comparison, change));
  json.key("component").value(change.component).key("clock").value(clock_unit(change.clock));
  json.key("from");
  write_moment(json, change.from);
  json.key("to");
  write_moment(json, change.to);
  json.key("level_from");
  write_moment(json, change.level_from);
  json.key("figures").begin_array();
  // Runs that share no span have nothing to be measured over.
  const bool shared = change.to > change.from;
  for (const FigureRow& row : kFigureRows) {
    const auto index = static_cast<size_t>(row.kind);
    const bool known = change.before[index] || change.after[index];
    if (shared && known) write_figure(json, change, row);
  }
  json.end_array().key("warnings").begin_array();
  for (const std::string& warning : warnings_of(change)) json.value(printable(warning));
  json.end_array().end_object();
}

}  // namespace

std::string comparison_page_json(const Comparison& comparison) {
  const View plain;
  JsonWriter json;
  json.begin_object().key("outcome").value(outcome_name(comparison.outcome));
  json.key("stamp").value(comparison_stamp(comparison));
  json.key("said").value(comparison_sentence(comparison)).key("sides").begin_array();
  for (size_t i = 0; i < comparison.sides.size(); ++i) {
    const ComparedSide& side = comparison.sides[i];
    json.begin_object().key("name").value(side.name).key("runs");
    json.begin_array().value(i).end_array();
    json.key("verdict").value(word_name(side.word)).end_object();
  }
  json.end_array().key("changes").begin_array();
  for (const Change& change : comparison.changes) write_change(json, comparison, change);
  json.end_array().key("text").value(render_comparison(comparison, plain)).end_object();
  return json.take();
}

}  // namespace plateau
