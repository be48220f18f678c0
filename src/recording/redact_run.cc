// SPDX-License-Identifier: Apache-2.0
#include "recording/redact_run.h"

#include <algorithm>

#include "base/redact.h"
#include "recording/facts.h"

namespace plateau {

void redact(Run& run) {
  const auto clean = [](std::string& text) { text = redacted(text); };
  const auto kept = std::find(run.notes.begin(), run.notes.end(), kSecretsKeptNote);
  if (kept != run.notes.end()) return;
  clean(run.command);
  clean(run.ending.text);
  for (Process& process : run.processes) {
    clean(process.name);
    clean(process.role_reason);
  }
  for (Event& event : run.events) clean(event.text);
  for (std::string& note : run.notes) clean(note);
  for (std::string& sample : run.bad_samples) clean(sample);
  if (run.holders) {
    for (Holder& holder : run.holders->holders) each_text(holder, clean);
  }
  for (const FactKind& kind : kFacts) {
    std::optional<Fact>& fact = run.context.*kind.field;
    if (!fact) continue;
    clean(fact->source);
    clean(fact->text);
  }
}

}  // namespace plateau
