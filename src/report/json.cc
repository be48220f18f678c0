// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include "base/json_writer.h"
#include "report/holder_json.h"
#include "report/job_json.h"
#include "words/cause_table.h"
#include "words/finding_json.h"
#include "words/finding_table.h"
#include "words/paragraphs.h"
#include "words/phrases.h"
#include "words/verdict_words.h"

namespace plateau {
namespace {

// 2: `facts`, and `fact` beside each cause (docs/formats/answer.md). Keys of 1 are all there.
constexpr int kSchema = 2;

// A confidence of 0 means that none can be given.
std::optional<double> known(double confidence) {
  return value_if(confidence != 0, confidence);
}

std::vector<std::string> told(const std::vector<Finding>& findings, const Verdict& verdict) {
  std::vector<std::string> sentences;
  sentences.reserve(findings.size());
  for (const Finding& finding : findings) sentences.push_back(tell(finding, verdict));
  return sentences;
}

// What was found, as a kind and numbers: the sentences are told from these.
auto fact(const Finding& finding) {
  return [&finding](JsonWriter& json) { finding_json(json, finding); };
}

auto facts(const std::vector<Finding>& findings) {
  return [&findings](JsonWriter& json) { findings_json(json, findings); };
}

void identity(JsonWriter& json, const ProcessGrowth& process) {
  const std::string_view role = process.role == Role::unknown ? "" : role_name(process.role);
  json.members("name", text_or_null(process.name), "role", text_or_null(role));
  json.members("pid", value_if(process.id_is_pid, process.id));
  if (!process.id_is_pid) json.members("index", process.id);
}

void process(JsonWriter& json, const ProcessGrowth& process) {
  json.begin_object();
  identity(json, process);
  json.end_object();
}

void process_with_growth(JsonWriter& json, const ProcessGrowth& process) {
  json.begin_object();
  identity(json, process);
  json.members("first_mb", process.first_mb, "last_mb", process.last_mb, "growth_mb",
               process.growth_mb, "share", process.share);
  if (process.alone) {
    json.members("alone", json_object("verdict", word_name(process.alone->word), "confidence",
                                      process.alone->confidence));
  }
  json.end_object();
}

void settled(JsonWriter& json, const Verdict::Settled& level) {
  json.value(json_object("step", level.step, "mb", level.mb, "low_mb", level.range.low, "high_mb",
                         level.range.high));
}

void forecast(JsonWriter& json, const Verdict::Forecast& end) {
  json.value(json_object("plateau_mb", end.plateau_mb, "low_mb", end.range.low, "high_mb",
                         end.range.high, "at_step", end.at_step));
}

void sawtooth(JsonWriter& json, const Verdict::Sawtooth& teeth) {
  json.value(json_object("height_mb", teeth.height_mb, "period_steps", teeth.period_steps));
}

void component(JsonWriter& json, const ComponentVerdict& each) {
  json.value(json_object("name", each.name, "measure", measure_phrase(each.measure), "verdict",
                         word_name(each.word), "confidence", known(each.confidence), "first_mb",
                         each.first_mb, "last_mb", each.last_mb, "rate_mb_per_step",
                         each.rate_mb_per_step, "reclaimable", each.reclaimable));
}

void advice(JsonWriter& json, const Cause& cause, const Verdict& verdict) {
  json.value(json_object("cause", cause.name, "title", cause_words(cause.name, verdict).title,
                         "fix", text_or_null(plain(fix_of(cause, verdict)))));
}

void course(JsonWriter& json, const Verdict& verdict) {
  const auto sampled = [&](double at) { return value_if(verdict.samples > 0, at); };
  const auto rate = [&](double mb) { return value_if(verdict.samples > 1, mb); };
  const Verdict::Spikes& spikes = verdict.spikes;
  json.members(
      "steps",
      json_object("first", sampled(verdict.first_step), "last", sampled(verdict.last_step)),
      "growth",
      json_object("rate_mb_per_step", rate(verdict.rate_mb_per_step), "rate_low",
                  rate(verdict.rate_range.low), "rate_high", rate(verdict.rate_range.high)),
      "settled", json_if(verdict.settled, settled), "epoch_steps", verdict.epoch_steps, "spikes",
      json_object("count", spikes.count, "height_mb",
                  value_if(spikes.count > 0, spikes.height_mb)));
}

void causes(JsonWriter& json, const Verdict& verdict) {
  const auto cause = [&verdict](JsonWriter& each, const Cause& cause) {
    each.value(json_object("name", cause.name, "weight", cause.weight, "evidence",
                           tell(cause.evidence, verdict), "confirm",
                           cause_words(cause.name, verdict).experiment(verdict.over), "fact",
                           fact(cause.evidence), "likelihood", likelihood_phrase(cause.weight)));
  };
  json.members("causes", json_list(verdict.causes, cause));
}

void explanations(JsonWriter& json, const Verdict& verdict) {
  const auto explanation = [&verdict](JsonWriter& each, const Explanation& of) {
    each.value(json_object("name", of.name, "words", explanation_phrase(of, verdict.clock),
                           "bounded", of.bounded, "weight", of.weight, "plateau_mb", of.plateau_mb,
                           "ends_at_step", of.ends_at_step, "rate_mb_per_step", of.rate_mb_per_step,
                           "for", told(of.speaks_for, verdict), "against",
                           told(of.speaks_against, verdict), "facts_for", facts(of.speaks_for),
                           "facts_against", facts(of.speaks_against)));
  };
  json.members("explanations", json_list(verdict.explanations, explanation));
}

std::vector<std::string> warnings_and_notes(const Verdict& verdict) {
  std::vector<std::string> all = told(verdict.warnings, verdict);
  all.insert(all.end(), verdict.notes.begin(), verdict.notes.end());
  return all;
}

void additions(JsonWriter& json, const Verdict& verdict) {
  json.members("schema", kSchema, "run", text_or_null(verdict.title));
  json.members("headline", headline_of(verdict), "clock", clock_unit(verdict.clock));
  json.members("samples", verdict.samples, "first_mb", verdict.first_mb);
  json.members("last_mb", verdict.last_mb, "current_rate_mb_per_step",
               verdict.current_rate_mb_per_step, "mb_per_example", verdict.mb_per_example);
  json.members("forecast", json_if(verdict.forecast, forecast), "highest_mb",
               value_if(verdict.spikes.count > 0, verdict.spikes.max_mb), "sawtooth",
               json_if(verdict.sawtooth, sawtooth));
  json.members("onset_step", verdict.onset_step, "total_steps", verdict.total_steps);
  json.members("at_total_steps_mb", verdict.forecast_at_total_steps_mb);
  json.members("limit_in_s", verdict.risk.in_s, "known_by_step", verdict.known_by_step);
  explanations(json, verdict);
  json.members("components", json_list(verdict.components, component), "processes",
               json_list(verdict.processes, process_with_growth), "advice",
               json_list(verdict.causes, [&verdict](JsonWriter& each, const Cause& cause) {
                 advice(each, cause, verdict);
               }));
  json.members("undecided_because", text_or_null(tell(verdict.undecided_because, verdict)));
  json.members("missing", text_or_null(tell(verdict.missing, verdict)));
  json.members("warnings", warnings_and_notes(verdict));
  json.members("facts", json_object("evidence", facts(verdict.evidence), "undecided_because",
                                    fact(verdict.undecided_because), "missing",
                                    fact(verdict.missing), "experiment", fact(verdict.experiment),
                                    "warnings", facts(verdict.warnings)));
  json.members("site", text_or_null(verdict.site));
  json.members("holders", json_list(verdict.holders, write_holder));
  write_job(json, verdict);
}

}  // namespace

std::string verdict_json(const Verdict& verdict) {
  const Risk& risk = verdict.risk;
  JsonWriter json;
  json.begin_object().members("file", verdict.file, "verdict", word_name(verdict.word));
  json.members("confidence", known(verdict.confidence));
  json.members("risk",
               json_object("oom", risk.oom, "at_step", risk.at_step, "limit_mb", risk.limit_mb));
  json.members("component", text_or_null(verdict.component));
  json.members("process", json_if(verdict.process, process));
  course(json, verdict);
  causes(json, verdict);
  json.members("decides_at_step", verdict.decides_at_step, "experiment",
               text_or_null(tell(verdict.experiment, verdict)));
  json.members("evidence", told(verdict.evidence, verdict));
  additions(json, verdict);
  return json.end_object().take();
}

}  // namespace plateau
