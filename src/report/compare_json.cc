// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.h"
#include "report/compare.h"
#include "words/finding_json.h"

namespace plateau {
namespace {

constexpr int kSchema = 1;

void interval(JsonWriter& json, std::string_view key, const std::optional<Interval>& range) {
  json.key(key);
  if (!range) {
    json.null();
    return;
  }
  json.begin_array().value(range->low).value(range->high).end_array();
}

void side_object(JsonWriter& json, const ComparedSide& side) {
  json.begin_object().key("name").value(side.name);
  json.key("verdict").value(word_name(side.word)).key("leaks").value(side.leaks);
  json.key("runs").begin_array();
  for (const Verdict& verdict : side.verdicts) {
    json.begin_object().key("file").value(verdict.file).key("run");
    if (verdict.title.empty()) {
      json.null();
    } else {
      json.value(verdict.title);
    }
    json.key("verdict").value(word_name(verdict.word)).key("confidence");
    if (verdict.confidence == 0) {
      json.null();
    } else {
      json.value(verdict.confidence);
    }
    json.key("site");
    if (verdict.site.empty()) {
      json.null();
    } else {
      json.value(verdict.site);
    }
    json.key("clock").value(clock_unit(verdict.clock)).key("samples").value(verdict.samples);
    json.key("steps").begin_object().key("first").value(verdict.first_step);
    json.key("last").value(verdict.last_step).end_object();
    json.key("first_mb").value(verdict.first_mb).key("last_mb").value(verdict.last_mb);
    json.end_object();
  }
  json.end_array().end_object();
}

void figure_object(JsonWriter& json, const Change& change, size_t index) {
  const std::optional<Figure>& before = change.before[index];
  const std::optional<Figure>& after = change.after[index];
  const std::optional<Difference>& difference = change.differences[index];
  json.begin_object();
  json.key("before").value(before ? std::optional(before->value) : std::nullopt);
  interval(json, "before_range", before ? before->range : std::nullopt);
  json.key("after").value(after ? std::optional(after->value) : std::nullopt);
  interval(json, "after_range", after ? after->range : std::nullopt);
  json.key("difference").value(difference ? std::optional(difference->difference) : std::nullopt);
  interval(json, "difference_range", difference ? difference->range : std::nullopt);
  json.key("ratio").value(difference ? difference->ratio : std::nullopt);
  interval(json, "ratio_range", difference ? difference->ratio_range : std::nullopt);
  json.key("significant").value(difference && difference->significant);
  json.key("method");
  if (difference && !difference->method.empty()) {
    json.value(difference->method);
  } else {
    json.null();
  }
  json.end_object();
}

void change_object(JsonWriter& json, const Comparison& comparison, const Change& change) {
  json.begin_object().key("side").value(comparison.sides[change.side].name);
  json.key("baseline").value(comparison.sides.front().name);
  json.key("headline").value(change_sentence(comparison, change));
  json.key("outcome").value(outcome_name(change.outcome));
  json.key("growth").value(growth_change_name(change.growth));
  json.key("shows_at_step").value(change.shows_at);
  json.key("component").value(change.component).key("clock").value(clock_unit(change.clock));
  json.key("steps").begin_object().key("first").value(change.from).key("last").value(change.to);
  json.key("level_from").value(change.level_from).end_object();
  json.key("replicated").value(change.replicated);
  json.key("figures").begin_object();
  for (size_t i = 0; i < kFigureCount; ++i) {
    json.key(figure_name(static_cast<FigureKind>(i)));
    figure_object(json, change, i);
  }
  json.end_object().key("warnings").begin_array();
  for (const std::string& warning : warnings_of(change)) json.value(warning);
  json.end_array().key("facts");
  findings_json(json, change.warnings);
  json.end_object();
}

}  // namespace

std::string comparison_json(const Comparison& comparison) {
  JsonWriter json;
  json.begin_object().key("schema").value(kSchema);
  json.key("outcome").value(outcome_name(comparison.outcome)).key("sides").begin_array();
  for (const ComparedSide& side : comparison.sides) side_object(json, side);
  json.end_array().key("changes").begin_array();
  for (const Change& change : comparison.changes) change_object(json, comparison, change);
  json.end_array().end_object();
  return json.take();
}

}  // namespace plateau
