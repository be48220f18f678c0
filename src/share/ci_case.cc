// SPDX-License-Identifier: Apache-2.0
#include "share/ci_case.h"

#include <fmt/format.h>

#include "base/printable.h"
#include "report/compare.h"
#include "report/printable.h"
#include "report/terminal.h"
#include "words/verdict_words.h"

namespace plateau {
namespace {

constexpr View kPlainText = {.width = 80, .color = false, .utf8 = true, .plot = true};
constexpr std::string_view kAnyGrowth = "growth";

}  // namespace

CaseOutcome outcome_of_exit(int code) {
  constexpr int kFine = 0, kNo = 1, kUndecided = 3;
  if (code == kFine) return CaseOutcome::passed;
  if (code == kNo) return CaseOutcome::failed;
  return code == kUndecided ? CaseOutcome::open : CaseOutcome::broken;
}

CiCase case_of(const Verdict& verdict, CaseOutcome outcome, const std::vector<std::string>& unmet) {
  const Verdict clean = printable_verdict(verdict);
  CiCase told;
  told.name = told.file = clean.file;
  told.outcome = outcome;
  told.message = fmt::format("{}: {}. {}", word_name(clean.word), answer_of(clean),
                             plain(course_of(clean).text));
  for (const std::string& each : unmet) told.message += " Not met: " + printable(each) + ".";
  told.report = render_verdict(verdict, kPlainText);
  told.rule = clean.causes.empty() ? kAnyGrowth : clean.causes.front().name;
  for (const Holder& holder : clean.holders) {
    if (holder.file.empty() || holder.line < 1) continue;
    told.file = holder.file;
    told.line = holder.line;
    break;
  }
  return told;
}

CiCase case_of(const Comparison& comparison, const Change& change) {
  const ComparedSide& side = comparison.sides[change.side];
  CiCase told = case_of(side.verdicts.front(), CaseOutcome::passed, {});
  if (change.outcome == Outcome::worse) told.outcome = CaseOutcome::failed;
  if (change.outcome == Outcome::undecided) told.outcome = CaseOutcome::open;
  told.message = fmt::format("{}: {}", delta_sentence(change), change_sentence(comparison, change));
  told.report = render_comparison(comparison, kPlainText);
  return told;
}

CiCase broken_case(const std::string& file, const std::string& why) {
  CiCase told;
  told.name = told.file = printable(file);
  told.outcome = CaseOutcome::broken;
  told.message = printable(why);
  told.rule = kAnyGrowth;
  return told;
}

}  // namespace plateau
