// SPDX-License-Identifier: Apache-2.0
#include "page/page_data.h"

#include <array>
#include <cmath>

#include "page/page_comparison.h"
#include "page/page_numbers.h"
#include "page/page_run.h"
#include "recording/facts.h"
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
  json.key("source").value(printable(run.source)).key("title");
  write_text(json, run.title);
  json.key("format").value(printable(run.format)).key("command");
  write_text(json, run.command);
  json.key("host");
  write_text(json, run.host);
  json.key("started_unix_s");
  const bool dated = run.epoch_time && !run.instants.empty();
  write_moment(json, dated ? run.instants.front().time_s : kMissing);
  json.key("ending");
  if (run.ending.kind == Ending::Kind::unknown) {
    json.null();
    return;
  }
  json.begin_object().key("kind").value(ending_name(run.ending.kind));
  json.key("code").value(run.ending.code);
  json.key("text").value(printable(run.ending.text)).end_object();
}

void write_context(JsonWriter& json, const Context& context) {
  json.key("context").begin_array();
  for (const FactKind& kind : kFacts) {
    const std::optional<Fact>& fact = context.*kind.field;
    if (!fact) continue;
    json.begin_object().key("name").value(kind.name).key("value").value(fact->value);
    json.key("unit").value(kind.unit);
    json.key("source").value(printable(fact->source)).end_object();
  }
  json.end_array();
}

void write_notes(JsonWriter& json, const PageRun& page) {
  json.key("notes").begin_array();
  for (const std::string& note : page.answer->verdict.notes) json.value(printable(note));
  for (const std::string& note : page.left_out) json.value(note);
  json.end_array();
}

void write_program(JsonWriter& json) {
  json.key("schema").value(kSchema).key("plateau").value(PLATEAU_VERSION);
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
  json.key("clock").value(clock_unit(page.signals.clock));
  write_series(json, page);
  write_marks(json, page);
  write_processes(json, page);
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
  if (comparison != nullptr) {
    json.embed(comparison_page_json(*comparison));
  } else {
    json.null();
  }
  json.end_object();
  return json.take();
}

std::string empty_page_json() {
  JsonWriter json;
  json.begin_object();
  write_program(json);
  json.key("runs").begin_array().end_array().key("comparison").null().end_object();
  return json.take();
}

}  // namespace plateau
