// SPDX-License-Identifier: Apache-2.0
#include "report/answers.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/phrases.h"
#include "report/sentences.h"

namespace plateau {
namespace {

constexpr size_t kMostEvidence = 5;
// A second cause is worth a line from this share on.
constexpr double kWorthNaming = 0.15;
// A fix is offered only for a cause that is more likely than not.
constexpr double kWorthFixing = 0.5;

// With a full stop, if it has none.
std::string ended(std::string text) {
  const bool open =
      !text.empty() && std::string_view(".!?:").find(text.back()) == std::string::npos;
  return open ? text + "." : text;
}

void add(std::vector<Paragraph>& paragraphs, std::string text, std::string_view lead = "") {
  if (!text.empty()) paragraphs.push_back({std::string(lead), std::move(text)});
}

}  // namespace

std::string answer_of(const Verdict& verdict) {
  std::string text = verdict.headline;
  if (verdict.confidence != 0) {
    text += (text.empty() ? "" : " · ") + percent_phrase(verdict.confidence);
  }
  return text;
}

std::vector<Paragraph> why_of(const Verdict& verdict) {
  std::vector<std::string> evidence = verdict.evidence;
  // "Grew ..." among the evidence retells the course; others retell what stands in other blocks.
  const std::string_view label = course_of(verdict).label;
  std::vector<std::string> elsewhere = {peaks_of(verdict), culprit_of(verdict)};
  if (verdict.process) {
    elsewhere.push_back(from_to_phrase(verdict.process->first_mb, verdict.process->last_mb));
  }
  std::erase_if(evidence, [&](const std::string& text) {
    return text.starts_with(label) || already_said(text, elsewhere);
  });
  if (evidence.size() > kMostEvidence) evidence.resize(kMostEvidence);
  std::vector<Paragraph> paragraphs;
  bool first = true;
  for (Cause cause : verdict.causes) {
    if (!first && cause.weight < kWorthNaming) break;
    if (already_said(cause.evidence, evidence)) cause.evidence.clear();
    add(paragraphs, ended(cause_sentence(cause)), first ? "Cause:" : "Or:");
    first = false;
  }
  for (const std::string& text : evidence) add(paragraphs, ended(text));
  return paragraphs;
}

std::vector<Paragraph> next_of(const Verdict& verdict) {
  std::vector<Paragraph> paragraphs;
  const Cause* cause = verdict.causes.empty() ? nullptr : &verdict.causes.front();
  const bool decided = verdict.word != Word::undecided;
  std::string outlook = outlook_of(verdict);
  if (decided && cause != nullptr && cause->weight >= kWorthFixing && !cause->fix.empty()) {
    outlook += (outlook.empty() ? "" : " ") + as_sentence(cause->fix);
  }
  add(paragraphs, outlook);
  if (verdict.decides_at_step) {
    add(paragraphs,
        fmt::format("known by {}.", moment_phrase(verdict.clock, *verdict.decides_at_step)));
  }
  add(paragraphs, ended(verdict.missing), "Would decide:");
  const std::string& confirm = cause != nullptr ? cause->confirm : verdict.experiment;
  if (decided) {
    add(paragraphs, ended(confirm), "Confirm:");
  } else {
    add(paragraphs, ended(verdict.experiment.empty() ? confirm : verdict.experiment), "Cheaper:");
  }
  return paragraphs;
}

}  // namespace plateau
