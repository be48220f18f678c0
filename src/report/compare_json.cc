// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.h"
#include "report/compare.h"
#include "words/finding_json.h"

namespace plateau {
namespace {

constexpr int kSchema = 1;

// The two ends of an interval, null if there is none.
std::optional<std::vector<double>> ends(const std::optional<Interval>& range) {
  return range ? std::optional(std::vector<double>{range->low, range->high}) : std::nullopt;
}

void run_object(JsonWriter& json, const Verdict& verdict) {
  json.begin_object().members("file", verdict.file, "run", text_or_null(verdict.title));
  json.members("verdict", word_name(verdict.word), "confidence",
               value_if(verdict.confidence != 0, verdict.confidence));
  json.members("site", text_or_null(verdict.site), "clock", clock_unit(verdict.clock));
  json.members("samples", verdict.samples, "steps",
               json_object("first", verdict.first_step, "last", verdict.last_step));
  json.members("first_mb", verdict.first_mb, "last_mb", verdict.last_mb).end_object();
}

void side_object(JsonWriter& json, const ComparedSide& side) {
  json.value(json_object("name", side.name, "verdict", word_name(side.word), "leaks", side.leaks,
                         "runs", json_list(side.verdicts, run_object)));
}

void figure_object(JsonWriter& json, const Change& change, size_t index) {
  const Figure none;
  const Difference same;
  const std::optional<Figure>& before = change.before[index];
  const std::optional<Figure>& after = change.after[index];
  const std::optional<Difference>& difference = change.differences[index];
  const Difference& known = difference ? *difference : same;
  json.begin_object();
  json.members("before", member_of(before, &Figure::value));
  json.members("before_range", ends(before.value_or(none).range));
  json.members("after", member_of(after, &Figure::value));
  json.members("after_range", ends(after.value_or(none).range));
  json.members("difference", member_of(difference, &Difference::difference));
  json.members("difference_range", ends(known.range), "ratio", known.ratio);
  json.members("ratio_range", ends(known.ratio_range), "significant", known.significant);
  json.members("method", text_or_null(known.method)).end_object();
}

void change_object(JsonWriter& json, const Comparison& comparison, const Change& change) {
  json.begin_object().members("side", comparison.sides[change.side].name);
  json.members("baseline", comparison.sides.front().name);
  json.members("headline", change_sentence(comparison, change));
  json.members("outcome", outcome_name(change.outcome));
  json.members("growth", growth_change_name(change.growth), "shows_at_step", change.shows_at);
  json.members("component", change.component, "clock", clock_unit(change.clock));
  json.members("steps", json_object("first", change.from, "last", change.to, "level_from",
                                    change.level_from));
  json.members("replicated", change.replicated).key("figures").begin_object();
  for (size_t i = 0; i < kFigureCount; ++i) {
    json.key(figure_name(static_cast<FigureKind>(i)));
    figure_object(json, change, i);
  }
  json.end_object().members("warnings", warnings_of(change)).key("facts");
  findings_json(json, change.warnings);
  json.end_object();
}

}  // namespace

std::string comparison_json(const Comparison& comparison) {
  const auto change = [&comparison](JsonWriter& json, const Change& change) {
    change_object(json, comparison, change);
  };
  JsonWriter json;
  json.value(json_object("schema", kSchema, "outcome", outcome_name(comparison.outcome), "sides",
                         json_list(comparison.sides, side_object), "changes",
                         json_list(comparison.changes, change)));
  return json.take();
}

}  // namespace plateau
