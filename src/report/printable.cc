// SPDX-License-Identifier: Apache-2.0
#include "report/printable.h"

#include <fmt/format.h>

#include "base/units.h"
#include "report/text.h"

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

void add_input_warnings(Verdict& verdict, const Run& run) {
  verdict.warnings.insert(verdict.warnings.end(), run.notes.begin(), run.notes.end());
  if (run.lines_bad == 0) return;
  std::string text = fmt::format("{} of {} lines looked like data but could not be read",
                                 format_count(static_cast<int64_t>(run.lines_bad)),
                                 format_count(static_cast<int64_t>(run.lines_read)));
  if (!run.bad_samples.empty()) text += fmt::format(": {}", fmt::join(run.bad_samples, "; "));
  verdict.warnings.push_back(text + ".");
}

}  // namespace plateau
