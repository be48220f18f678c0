// SPDX-License-Identifier: Apache-2.0
#include "words/paragraphs.h"

#include <algorithm>
#include <array>

#include "base/units.h"
#include "words/cause_table.h"
#include "words/finding_table.h"
#include "words/holder_words.h"
#include "words/phrases.h"
#include "words/verdict_words.h"

namespace plateau {
namespace {

constexpr size_t kMostEvidence = 5;
constexpr size_t kMostHolders = 2;
// A second cause is worth a line from this share on.
constexpr double kWorthNaming = 0.15;
// A fix is offered only for a cause that leads clearly.
constexpr double kWorthFixing = 0.5;

void add(std::vector<Paragraph>& paragraphs, ParagraphRole role, Sentence claim,
         Sentence detail = {}) {
  if (claim.empty()) return;
  Sentence& last = detail.empty() ? claim : detail;
  last = ended(std::move(last));
  paragraphs.push_back({role, std::move(claim), std::move(detail)});
}

Sentence words(std::string_view text) {
  if (text.empty()) return {};
  return {{std::string(text), ""}};
}

}  // namespace

std::string_view role_name(ParagraphRole role) {
  constexpr std::array<std::string_view, 11> kNames = {
      "cause",   "other-cause", "evidence",   "outlook", "fix",        "known-by",
      "missing", "confirm",     "experiment", "holder",  "experiment",
  };
  return kNames[static_cast<size_t>(role)];
}

std::string_view lead_of(ParagraphRole role) {
  constexpr std::array<std::string_view, 11> kLeads = {
      "Cause:",        "Or:",      "",        "",       "Fix:", "",
      "To settle it:", "Confirm:", "Or try:", "Holds:", "Try:"};
  return kLeads[static_cast<size_t>(role)];
}

std::string plain(const Paragraph& paragraph) {
  return plain(paragraph.claim) + plain(paragraph.detail);
}

Paragraph cause_paragraph(const Cause& cause, const Verdict& verdict, bool with_evidence) {
  const CauseWords& said = cause_words(cause.name, verdict);
  Paragraph paragraph{
      ParagraphRole::cause,
      fill("{title}, {likelihood}",
           {{"title", std::string(said.title.empty() ? cause.name : said.title), ""},
            {"likelihood", std::string(likelihood_phrase(cause.weight)), "causes[].likelihood"}}),
      {}};
  if (!with_evidence || !cause.evidence) return paragraph;
  paragraph.detail = {{": ", ""}};
  for (const Fragment& each : as_clause(tell_sentence(cause.evidence, verdict))) {
    paragraph.detail.push_back(each);
  }
  return paragraph;
}

Sentence fix_of(const Cause& cause, const Verdict& verdict) {
  std::string back;
  if (cause.gives_back_mb) back = format_mb(*cause.gives_back_mb);
  std::string fix(cause_words(cause.name, verdict).fix);
  const bool of_objects = cause.name == "python-objects" && !verdict.holders.empty();
  if (of_objects && holds_no_tensors(verdict.holders.front())) {
    fix = "give what holds them a bound, or empty it when its items have been used";
  }
  return fill("{fix}[: about {back} would come back]",
              {{"fix", fix, ""}, {"back", back, "advice[].fix"}});
}

std::vector<Paragraph> why_of(const Verdict& verdict) {
  std::vector<const Finding*> told;
  for (const Finding& finding : verdict.evidence) {
    if (row_of(finding.kind).block == Block::why) told.push_back(&finding);
  }
  if (told.size() > kMostEvidence) told.resize(kMostEvidence);
  const std::vector<const Finding*> evidence = told;
  const auto is_told = [&told](const Finding& finding) {
    return row_of(finding.kind).block != Block::why ||
           std::any_of(told.begin(), told.end(),
                       [&finding](const Finding* other) { return other->kind == finding.kind; });
  };
  std::vector<Paragraph> paragraphs;
  for (const Finding& finding : verdict.evidence) {
    if (row_of(finding.kind).block != Block::end) continue;
    add(paragraphs, ParagraphRole::evidence, tell_sentence(finding, verdict));
  }
  for (size_t i = 0; i < std::min(verdict.holders.size(), kMostHolders); ++i) {
    add(paragraphs, ParagraphRole::holder,
        words(holder_words(verdict.holders[i], verdict.holder_steps)));
  }
  bool first = true;
  for (const Cause& cause : verdict.causes) {
    if (!first && cause.weight < kWorthNaming) break;
    Paragraph said = cause_paragraph(cause, verdict, !is_told(cause.evidence));
    told.push_back(&cause.evidence);
    add(paragraphs, first ? ParagraphRole::cause : ParagraphRole::other_cause,
        std::move(said.claim), std::move(said.detail));
    first = false;
  }
  for (const Finding* finding : evidence) {
    add(paragraphs, ParagraphRole::evidence, tell_sentence(*finding, verdict));
  }
  return paragraphs;
}

std::vector<Paragraph> next_of(const Verdict& verdict) {
  std::vector<Paragraph> paragraphs;
  const Cause* cause = verdict.causes.empty() ? nullptr : &verdict.causes.front();
  const bool decided = verdict.word != Word::undecided;
  add(paragraphs, ParagraphRole::outlook, outlook_of(verdict));
  if (decided && cause != nullptr && cause->weight >= kWorthFixing) {
    add(paragraphs, ParagraphRole::fix, fix_of(*cause, verdict));
  }
  if (verdict.decides_at_step) {
    add(paragraphs, ParagraphRole::known_by,
        fill("can be known at {step} at the earliest[, and most likely by {by}].",
             {{"step", moment_phrase(verdict.clock, *verdict.decides_at_step), "decides_at_step"},
              {"by",
               verdict.known_by_step ? moment_phrase(verdict.clock, *verdict.known_by_step) : "",
               "known_by_step"}}));
  }
  add(paragraphs, ParagraphRole::missing, tell_sentence(verdict.missing, verdict));
  const Sentence confirm = cause != nullptr
                               ? words(cause_words(cause->name, verdict).experiment(verdict.over))
                               : tell_sentence(verdict.experiment, verdict);
  if (decided) {
    add(paragraphs, ParagraphRole::confirm, confirm);
  } else {
    const bool settled = verdict.decides_at_step.has_value() || verdict.missing;
    add(paragraphs, settled ? ParagraphRole::experiment : ParagraphRole::only_experiment,
        verdict.experiment ? tell_sentence(verdict.experiment, verdict) : confirm);
  }
  return paragraphs;
}

}  // namespace plateau
