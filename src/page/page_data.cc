// SPDX-License-Identifier: Apache-2.0
#include "page/page_data.h"

#include <array>
#include <cmath>

#include "base/version.h"
#include "page/page_comparison.h"
#include "page/page_numbers.h"
#include "page/page_run.h"
#include "recording/facts.h"
#include "report/cost.h"
#include "report/json.h"
#include "report/printable.h"
#include "report/text.h"

namespace plateau {
namespace {

constexpr int kSchema = 2;

std::string_view ending_name(Ending::Kind kind) {
  constexpr std::array<std::string_view, 6> kNames = {"unknown",    "exited", "signaled",
                                                      "oom_killed", "left",   "vanished"};
  return kNames[static_cast<size_t>(kind)];
}

void write_head(JsonWriter& json, const PageRun& page) {
  const Run& run = *page.run;
  const bool dated = run.epoch_time && !run.instants.empty();
  const Ending& ending = run.ending;
  json.members("source", printable(run.source), "title", harmless(run.title));
  json.members("format", printable(run.format), "command", harmless(run.command));
  json.members("host", harmless(run.host));
  json.members("started_unix_s", Moment(dated ? run.instants.front().time_s : kMissing));
  json.key("ending");
  if (ending.kind == Ending::Kind::unknown) {
    json.null();
    return;
  }
  json.value(json_object("kind", ending_name(ending.kind), "code", ending.code, "text",
                         printable(ending.text)));
}

void write_context(JsonWriter& json, const Context& context) {
  json.key("context").begin_array();
  for (const FactKind& kind : kFacts) {
    const std::optional<Fact>& fact = context.*kind.field;
    if (!fact) continue;
    json.begin_object().members("name", kind.name);
    if (kind.is_name()) {
      json.members("value", printable(fact->text), "unit", "");
    } else {
      json.members("value", fact->value, "unit", kind.unit);
    }
    json.members("source", printable(fact->source)).end_object();
  }
  json.end_array();
}

void write_notes(JsonWriter& json, const PageRun& page) {
  json.key("notes").begin_array();
  for (const std::string& note : page.answer->verdict.notes) json.value(printable(note));
  for (const std::string& note : page.left_out) json.value(note);
  json.end_array();
}

void write_cost(JsonWriter& json, const Run& run) {
  const auto cost = [](JsonWriter& each, const WatchCost& of) {
    each.value(json_object("words", cost_sentence(of), "cpu_percent", Rounded(100 * of.cpu_share),
                           "walk_percent", Rounded(100 * of.walk_share)));
  };
  json.members("cost", json_if(recorded_cost(run), cost));
}

void write_program(JsonWriter& json) {
  json.members("schema", kSchema, "plateau", version());
}

}  // namespace

PageRun make_page_run(const Run& run, const Answer& answer) {
  auto columns = std::make_unique<TreeColumns>(run);
  Signals signals = columns->signals(run);
  Thinning thinning(signals.clock_of_instant, kMostShown);
  PageRun page{.run = &run,
               .answer = &answer,
               .clean = printable_verdict(answer.verdict),
               .signals = std::move(signals),
               .columns = std::move(columns),
               .thinning = std::move(thinning),
               .shown = {},
               .place = {},
               .left_out = {}};
  choose_processes(page);
  return page;
}

void write_run(JsonWriter& json, PageRun& page) {
  json.begin_object();
  write_head(json, page);
  json.key("verdict").embed(verdict_json(page.answer->verdict));
  write_said(json, page);
  json.members("clock", clock_unit(page.signals.clock));
  write_series(json, page);
  write_marks(json, page);
  write_processes(json, page);
  write_ranks(json, page);
  write_hindsight(json, page);
  write_heaps(json, page);
  write_context(json, page.run->context);
  write_cost(json, *page.run);
  write_notes(json, page);
  json.end_object();
}

std::string page_data_json(std::span<const Run> runs, std::span<const Answer> answers,
                           const Comparison* comparison) {
  JsonWriter json;
  json.begin_object();
  write_program(json);
  json.key("runs").begin_array();
  for (size_t i = 0; i < runs.size(); ++i) {
    PageRun page = make_page_run(runs[i], answers[i]);
    write_run(json, page);
  }
  json.end_array().key("comparison");
  json.embed(comparison != nullptr ? comparison_page_json(*comparison) : "null");
  return json.end_object().take();
}

std::string empty_page_json() {
  JsonWriter json;
  json.begin_object();
  write_program(json);
  json.key("runs").begin_array().end_array().key("comparison").null();
  return json.end_object().take();
}

}  // namespace plateau
