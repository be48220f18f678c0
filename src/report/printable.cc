// SPDX-License-Identifier: Apache-2.0
#include "report/printable.h"

#include "base/printable.h"

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
  for (Holder& holder : verdict.holders) {
    each_text(holder, [](std::string& text) { clean(text); });
  }
  if (verdict.process) clean(verdict.process->name);
  for (ProcessGrowth& process : verdict.processes) clean(process.name);
  if (verdict.launched) {
    clean(verdict.launched->job);
    clean(verdict.launched->node);
  }
  if (verdict.job) {
    clean(verdict.job->id);
    for (RankVerdict& rank : verdict.job->ranks) clean(rank.node);
    for (NodeVerdict& node : verdict.job->nodes) clean(node.name);
  }
  for (Explanation& explanation : verdict.explanations) {
    for (Finding& finding : explanation.speaks_for) clean(finding);
    for (Finding& finding : explanation.speaks_against) clean(finding);
  }
  for (Cause& cause : verdict.causes) clean(cause.evidence);
  for (ComponentVerdict& component : verdict.components) clean(component.name);
  return verdict;
}

}  // namespace plateau
