// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include "base/json_text.h"
#include "base/json_writer.h"
#include "words/cause_table.h"
#include "words/finding_json.h"
#include "words/finding_table.h"
#include "words/paragraphs.h"
#include "words/phrases.h"
#include "words/verdict_words.h"

namespace plateau {
namespace {

// A confidence of 0 means that none can be given.
std::optional<double> known(double confidence) {
  return confidence == 0 ? std::nullopt : std::optional<double>(confidence);
}

// 2: `facts`, and `fact` beside each cause (docs/formats/answer.md). Keys of 1 are all there.
constexpr int kSchema = 2;

void told(JsonWriter& json, const std::vector<Finding>& findings, const Verdict& verdict) {
  json.begin_array();
  for (const Finding& finding : findings) json.value(tell(finding, verdict));
  json.end_array();
}

void told_or_null(JsonWriter& json, const Finding& finding, const Verdict& verdict) {
  text_or_null(json, tell(finding, verdict));
}

void identity(JsonWriter& json, const ProcessGrowth& process) {
  json.key("name");
  text_or_null(json, process.name);
  json.key("role");
  text_or_null(json, process.role == Role::unknown ? "" : role_name(process.role));
  json.key("pid");
  if (process.id_is_pid) {
    json.value(process.id);
  } else {
    json.null().key("index").value(process.id);
  }
}

void growth_of(JsonWriter& json, const ProcessGrowth& process) {
  json.key("first_mb").value(process.first_mb).key("last_mb").value(process.last_mb);
  json.key("growth_mb").value(process.growth_mb).key("share").value(process.share);
}

void risk(JsonWriter& json, const Verdict& verdict) {
  json.key("risk").begin_object().key("oom").value(verdict.risk.oom);
  json.key("at_step").value(verdict.risk.at_step);
  json.key("limit_mb").value(verdict.risk.limit_mb);
  json.key("in_s").value(verdict.risk.in_s).end_object();
}

void process(JsonWriter& json, const Verdict& verdict) {
  json.key("process");
  if (!verdict.process) {
    json.null();
    return;
  }
  json.begin_object();
  identity(json, *verdict.process);
  json.end_object();
}

void course(JsonWriter& json, const Verdict& verdict) {
  const bool any = verdict.samples > 0;
  const bool growth = verdict.samples > 1;
  const auto number = [&json](bool known, std::string_view key, double value) {
    json.key(key);
    if (known) {
      json.value(value);
    } else {
      json.null();
    }
  };
  json.key("steps").begin_object();
  number(any, "first", verdict.first_step);
  number(any, "last", verdict.last_step);
  json.end_object().key("growth").begin_object();
  number(growth, "rate_mb_per_step", verdict.rate_mb_per_step);
  number(growth, "rate_low", verdict.rate_range.low);
  number(growth, "rate_high", verdict.rate_range.high);
  json.end_object().key("settled");
  if (verdict.settled) {
    json.begin_object().key("step").value(verdict.settled->step);
    json.key("mb").value(verdict.settled->mb).key("low_mb").value(verdict.settled->range.low);
    json.key("high_mb").value(verdict.settled->range.high).end_object();
  } else {
    json.null();
  }
  json.key("epoch_steps").value(verdict.epoch_steps);
  json.key("spikes").begin_object().key("count").value(verdict.spikes.count);
  number(verdict.spikes.count > 0, "height_mb", verdict.spikes.height_mb);
  json.end_object();
}

void causes(JsonWriter& json, const Verdict& verdict) {
  json.key("causes").begin_array();
  for (const Cause& cause : verdict.causes) {
    json.begin_object().key("name").value(cause.name).key("weight").value(cause.weight);
    json.key("evidence").value(tell(cause.evidence, verdict));
    json.key("confirm").value(cause_words(cause.name).confirm);
    json.key("fact");
    finding_json(json, cause.evidence);
    json.key("likelihood").value(likelihood_phrase(cause.weight)).end_object();
  }
  json.end_array();
}

void advice(JsonWriter& json, const Verdict& verdict) {
  json.key("advice").begin_array();
  for (const Cause& cause : verdict.causes) {
    json.begin_object().key("cause").value(cause.name);
    json.key("title").value(cause_words(cause.name).title).key("fix");
    text_or_null(json, plain(fix_of(cause)));
    json.end_object();
  }
  json.end_array();
}

void forecast(JsonWriter& json, const Verdict& verdict) {
  json.key("forecast");
  if (!verdict.forecast) {
    json.null();
    return;
  }
  json.begin_object().key("plateau_mb").value(verdict.forecast->plateau_mb);
  json.key("low_mb").value(verdict.forecast->range.low);
  json.key("high_mb").value(verdict.forecast->range.high);
  json.key("at_step").value(verdict.forecast->at_step).end_object();
}

void explanations(JsonWriter& json, const Verdict& verdict) {
  json.key("explanations").begin_array();
  for (const Explanation& explanation : verdict.explanations) {
    json.begin_object().key("name").value(explanation.name).key("words");
    json.value(explanation_phrase(explanation, verdict.clock));
    json.key("bounded").value(explanation.bounded).key("weight").value(explanation.weight);
    json.key("plateau_mb").value(explanation.plateau_mb);
    json.key("ends_at_step").value(explanation.ends_at_step);
    json.key("rate_mb_per_step").value(explanation.rate_mb_per_step).key("for");
    told(json, explanation.speaks_for, verdict);
    json.key("against");
    told(json, explanation.speaks_against, verdict);
    json.key("facts_for");
    findings_json(json, explanation.speaks_for);
    json.key("facts_against");
    findings_json(json, explanation.speaks_against);
    json.end_object();
  }
  json.end_array();
}

void parts(JsonWriter& json, const Verdict& verdict) {
  json.key("components").begin_array();
  for (const ComponentVerdict& component : verdict.components) {
    json.begin_object().key("name").value(component.name);
    json.key("measure").value(measure_phrase(component.measure));
    json.key("verdict").value(word_name(component.word));
    json.key("confidence").value(known(component.confidence));
    json.key("first_mb").value(component.first_mb).key("last_mb").value(component.last_mb);
    json.key("rate_mb_per_step").value(component.rate_mb_per_step);
    json.key("reclaimable").value(component.reclaimable).end_object();
  }
  json.end_array().key("processes").begin_array();
  for (const ProcessGrowth& each : verdict.processes) {
    json.begin_object();
    identity(json, each);
    growth_of(json, each);
    json.end_object();
  }
  json.end_array();
}

void warnings(JsonWriter& json, const Verdict& verdict) {
  json.key("warnings").begin_array();
  for (const Finding& warning : verdict.warnings) json.value(tell(warning, verdict));
  for (const std::string& note : verdict.notes) json.value(note);
  json.end_array();
}

// What was found, as kinds and numbers: the sentences above are told from these.
void facts(JsonWriter& json, const Verdict& verdict) {
  json.key("facts").begin_object().key("evidence");
  findings_json(json, verdict.evidence);
  json.key("undecided_because");
  finding_json(json, verdict.undecided_because);
  json.key("missing");
  finding_json(json, verdict.missing);
  json.key("experiment");
  finding_json(json, verdict.experiment);
  json.key("warnings");
  findings_json(json, verdict.warnings);
  json.end_object();
}

void peaks(JsonWriter& json, const Verdict& verdict) {
  const bool any = verdict.spikes.count > 0;
  json.key("highest_mb").value(any ? std::optional(verdict.spikes.max_mb) : std::nullopt);
  json.key("sawtooth");
  if (!verdict.sawtooth) {
    json.null();
    return;
  }
  json.begin_object().key("height_mb").value(verdict.sawtooth->height_mb);
  json.key("period_steps").value(verdict.sawtooth->period_steps).end_object();
}

void additions(JsonWriter& json, const Verdict& verdict) {
  json.key("schema").value(kSchema).key("run");
  text_or_null(json, verdict.title);
  json.key("headline").value(headline_of(verdict));
  json.key("clock").value(clock_unit(verdict.clock)).key("samples").value(verdict.samples);
  json.key("first_mb").value(verdict.first_mb).key("last_mb").value(verdict.last_mb);
  json.key("current_rate_mb_per_step").value(verdict.current_rate_mb_per_step);
  json.key("mb_per_example").value(verdict.mb_per_example);
  forecast(json, verdict);
  peaks(json, verdict);
  json.key("onset_step").value(verdict.onset_step);
  json.key("total_steps").value(verdict.total_steps);
  json.key("at_total_steps_mb").value(verdict.forecast_at_total_steps_mb);
  explanations(json, verdict);
  parts(json, verdict);
  advice(json, verdict);
  json.key("undecided_because");
  told_or_null(json, verdict.undecided_because, verdict);
  json.key("missing");
  told_or_null(json, verdict.missing, verdict);
  warnings(json, verdict);
  facts(json, verdict);
  json.key("site");
  text_or_null(json, verdict.site);
}

}  // namespace

std::string verdict_json(const Verdict& verdict) {
  JsonWriter json;
  json.begin_object().key("file").value(verdict.file);
  json.key("verdict").value(word_name(verdict.word));
  json.key("confidence").value(known(verdict.confidence));
  risk(json, verdict);
  json.key("component");
  text_or_null(json, verdict.component);
  process(json, verdict);
  course(json, verdict);
  causes(json, verdict);
  json.key("decides_at_step").value(verdict.decides_at_step).key("experiment");
  told_or_null(json, verdict.experiment, verdict);
  json.key("evidence");
  told(json, verdict.evidence, verdict);
  additions(json, verdict);
  json.end_object();
  return json.take();
}

}  // namespace plateau
