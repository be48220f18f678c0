// SPDX-License-Identifier: Apache-2.0
#include "report/printable.h"

#include "base/printable.h"

namespace plateau {
namespace {

void clean(std::string& text) {
  text = printable(text);
}

void clean_all(std::vector<std::string>& texts) {
  for (std::string& text : texts) clean(text);
}

void clean(Explanation& explanation) {
  clean(explanation.name);
  clean(explanation.words);
  clean_all(explanation.speaks_for);
  clean_all(explanation.speaks_against);
}

void clean(Cause& cause) {
  clean(cause.name);
  clean(cause.title);
  clean(cause.evidence);
  clean(cause.confirm);
  clean(cause.fix);
}

}  // namespace

Verdict printable_verdict(Verdict verdict) {
  clean(verdict.file);
  clean(verdict.title);
  clean(verdict.headline);
  clean(verdict.component);
  clean(verdict.site);
  clean(verdict.spikes.clock);
  clean(verdict.undecided_because);
  clean(verdict.experiment);
  clean(verdict.missing);
  clean_all(verdict.evidence);
  clean_all(verdict.warnings);
  if (verdict.process) clean(verdict.process->name);
  for (ProcessGrowth& process : verdict.processes) clean(process.name);
  for (Explanation& explanation : verdict.explanations) clean(explanation);
  for (Cause& cause : verdict.causes) clean(cause);
  for (ComponentVerdict& component : verdict.components) {
    clean(component.name);
    clean(component.measure);
  }
  return verdict;
}

}  // namespace plateau
