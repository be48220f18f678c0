// SPDX-License-Identifier: Apache-2.0
#include "report/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/layout.h"
#include "report/printable.h"
#include "words/cause_table.h"
#include "words/finding_table.h"
#include "words/paragraphs.h"
#include "words/phrases.h"
#include "words/verdict_words.h"

namespace plateau {
namespace {

constexpr size_t kBar = 20;

// Twenty characters, filled by weight; any weight above zero that rounds to nothing stays empty.
std::string bar(double weight) {
  const double share = std::isfinite(weight) ? std::clamp(weight, 0.0, 1.0) : 0;
  const auto filled = static_cast<size_t>(std::lround(share * kBar));
  std::string text;
  for (size_t i = 0; i < kBar; ++i) text += i < filled ? "█" : "░";
  return text;
}

void explain_one(const Verdict& verdict, const Explanation& explanation, const View& view,
                 Layout& layout) {
  const Ink ink = explanation.bounded ? Ink::green : Ink::red;
  layout.line(fmt::format("  {} {}  {}  {}", paint(view, ink, bar(explanation.weight)),
                          pad_left(percent_phrase(explanation.weight), 8),
                          paint(view, Ink::bold, explanation.name),
                          explanation.bounded ? "ends" : "does not end"));
  layout.say("", fmt::format("{}; {}.", explanation_phrase(explanation, verdict.clock),
                             destination_of(verdict, explanation)));
  for (const Finding& finding : explanation.speaks_for) {
    layout.say("", tell(finding, verdict), "for:");
  }
  for (const Finding& finding : explanation.speaks_against) {
    layout.say("", tell(finding, verdict), "against:");
  }
}

void explain_causes(const Verdict& verdict, Layout& layout) {
  if (verdict.causes.empty()) return;
  layout.line("");
  layout.line("Causes that fit, likeliest first:");
  for (const Cause& cause : verdict.causes) {
    layout.line("");
    layout.say("", plain(cause_paragraph(cause, verdict)), fmt::format("{}:", cause.name));
    layout.say("", cause_words(cause.name, verdict).experiment(verdict.over), "Confirm:");
    layout.say("", plain(fix_of(cause, verdict)), "Fix:");
  }
}

}  // namespace

std::string render_explain(const Verdict& verdict, const View& view) {
  const Verdict clean = printable_verdict(verdict);
  if (clean.explanations.empty()) return "";
  double bounded = 0;
  for (const Explanation& explanation : clean.explanations) {
    if (explanation.bounded) bounded += explanation.weight;
  }
  Layout layout(view);
  layout.line("");
  const bool named = !clean.component.empty() && clean.component != "memory";
  layout.line(fmt::format("Explanations of {}memory: growth ends {}, does not end {}.",
                          named ? clean.component + " " : "", percent_phrase(bounded),
                          percent_phrase(1 - bounded)));
  for (const Explanation& explanation : clean.explanations) {
    layout.line("");
    explain_one(clean, explanation, view, layout);
  }
  explain_causes(clean, layout);
  if (!clean.evidence.empty()) {
    layout.line("");
    layout.line("Evidence, strongest first:");
    for (const Finding& finding : clean.evidence) layout.say("", tell(finding, clean), "•");
  }
  return layout.take();
}

}  // namespace plateau
