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

void clean(Finding& finding) {
  for (Name& name : finding.names) clean(name.text);
}

}  // namespace

Verdict printable_verdict(Verdict verdict) {
  clean(verdict.file);
  clean(verdict.title);
  clean(verdict.component);
  clean(verdict.site);
  for (Finding* one : {&verdict.undecided_because, &verdict.experiment, &verdict.missing}) {
    clean(*one);
  }
  for (Finding& finding : verdict.evidence) clean(finding);
  for (Finding& finding : verdict.warnings) clean(finding);
  for (std::string& note : verdict.notes) clean(note);
  if (verdict.process) clean(verdict.process->name);
  for (ProcessGrowth& process : verdict.processes) clean(process.name);
  for (Cause& cause : verdict.causes) clean(cause.evidence);
  for (ComponentVerdict& component : verdict.components) {
    clean(component.name);
    clean(component.measure);
  }
  return verdict;
}

void add_input_warnings(Verdict& verdict, const Run& run) {
  verdict.notes.insert(verdict.notes.end(), run.notes.begin(), run.notes.end());
  if (run.lines_bad == 0) return;
  std::string text = fmt::format("{} of {} lines looked like data but could not be read",
                                 format_count(static_cast<int64_t>(run.lines_bad)),
                                 format_count(static_cast<int64_t>(run.lines_read)));
  if (!run.bad_samples.empty()) text += fmt::format(": {}", fmt::join(run.bad_samples, "; "));
  verdict.notes.push_back(text + ".");
}

}  // namespace plateau
