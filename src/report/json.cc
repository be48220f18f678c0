// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include "base/json_text.h"
#include "base/json_writer.h"

namespace plateau {
namespace {

// A confidence of 0 means that none can be given.
std::optional<double> known(double confidence) {
  return confidence == 0 ? std::nullopt : std::optional<double>(confidence);
}

constexpr int kSchema = 1;

void texts(JsonWriter& json, const std::vector<std::string>& list) {
  json.begin_array();
  for (const std::string& text : list) json.value(text);
  json.end_array();
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
  json.key("risk").begin_object().key("oom");
  // Without a limit there is no probability of passing it.
  if (verdict.risk.limit_mb) {
    json.value(verdict.risk.oom);
  } else {
    json.null();
  }
  json.key("at_step").value(verdict.risk.at_step);
  json.key("limit_mb").value(verdict.risk.limit_mb).end_object();
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
    json.key("evidence").value(cause.evidence).key("confirm").value(cause.confirm);
    json.end_object();
  }
  json.end_array();
}

void advice(JsonWriter& json, const Verdict& verdict) {
  json.key("advice").begin_array();
  for (const Cause& cause : verdict.causes) {
    json.begin_object().key("cause").value(cause.name).key("title").value(cause.title).key("fix");
    text_or_null(json, cause.fix);
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
    json.begin_object().key("name").value(explanation.name).key("words").value(explanation.words);
    json.key("bounded").value(explanation.bounded).key("weight").value(explanation.weight);
    json.key("plateau_mb").value(explanation.plateau_mb);
    json.key("ends_at_step").value(explanation.ends_at_step);
    json.key("rate_mb_per_step").value(explanation.rate_mb_per_step).key("for");
    texts(json, explanation.speaks_for);
    json.key("against");
    texts(json, explanation.speaks_against);
    json.end_object();
  }
  json.end_array();
}

void parts(JsonWriter& json, const Verdict& verdict) {
  json.key("components").begin_array();
  for (const ComponentVerdict& component : verdict.components) {
    json.begin_object().key("name").value(component.name);
    json.key("measure").value(component.measure);
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

void additions(JsonWriter& json, const Verdict& verdict) {
  json.key("schema").value(kSchema).key("run");
  text_or_null(json, verdict.title);
  json.key("headline").value(verdict.headline);
  json.key("clock").value(clock_unit(verdict.clock)).key("samples").value(verdict.samples);
  json.key("first_mb").value(verdict.first_mb).key("last_mb").value(verdict.last_mb);
  json.key("current_rate_mb_per_step").value(verdict.current_rate_mb_per_step);
  json.key("mb_per_example").value(verdict.mb_per_example);
  forecast(json, verdict);
  json.key("onset_step").value(verdict.onset_step);
  json.key("total_steps").value(verdict.total_steps);
  json.key("at_total_steps_mb").value(verdict.forecast_at_total_steps_mb);
  explanations(json, verdict);
  parts(json, verdict);
  advice(json, verdict);
  json.key("undecided_because");
  text_or_null(json, verdict.undecided_because);
  json.key("missing");
  text_or_null(json, verdict.missing);
  json.key("warnings");
  texts(json, verdict.warnings);
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
  text_or_null(json, verdict.experiment);
  json.key("evidence");
  texts(json, verdict.evidence);
  additions(json, verdict);
  json.end_object();
  return json.take();
}

}  // namespace plateau
