// SPDX-License-Identifier: Apache-2.0
#include "serve/run_facts.h"

#include "base/json_writer.h"
#include "words/verdict_words.h"

namespace plateau {

std::string run_summary_json(const RunFacts& facts, bool with_version) {
  JsonWriter json;
  json.begin_object();
  json.key("id").value(facts.id).key("name").value(facts.name).key("live").value(facts.live);
  const Verdict* verdict = facts.verdict ? &*facts.verdict : nullptr;
  const bool measured = verdict != nullptr && verdict->samples > 0;
  json.key("word");
  verdict != nullptr ? json.value(word_name(verdict->word)) : json.null();
  json.key("confidence");
  // A confidence of 0 means that none can be given.
  verdict != nullptr && verdict->confidence > 0 ? json.value(verdict->confidence) : json.null();
  json.key("headline").value(verdict != nullptr ? headline_of(*verdict) : std::string());
  json.key("last_mb");
  measured ? json.value(verdict->last_mb) : json.null();
  json.key("last_x");
  measured ? json.value(verdict->last_step) : json.null();
  json.key("clock");
  verdict != nullptr ? json.value(clock_unit(verdict->clock)) : json.null();
  json.key("changed_unix_s").value(facts.changed_unix_s);
  json.key("trouble");
  verdict == nullptr ? json.value(facts.trouble) : json.null();
  if (with_version) json.key("version").value(facts.version);
  json.end_object();
  return json.take();
}

}  // namespace plateau
