// SPDX-License-Identifier: Apache-2.0
// The paragraphs of a report that answer why and what next, for whoever lays them out.
//
// Requires: a printable verdict (see report/printable.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "words/sentence.h"

namespace plateau {

// What a paragraph is for, so that a screen can set it without reading it.
enum class ParagraphRole : uint8_t {
  cause,
  other_cause,
  evidence,
  outlook,
  fix,
  known_by,
  missing,
  confirm,
  experiment,
  holder,
  only_experiment,  // Where nothing else would settle it.
};
std::string_view role_name(ParagraphRole role);  // "cause", "other-cause", ...
std::string_view lead_of(ParagraphRole role);    // "Cause:", "Confirm:"; may be empty.

struct Paragraph {
  ParagraphRole role = ParagraphRole::evidence;
  Sentence claim;   // What stands out: "per-example cache (decoded data kept), 79 %".
  Sentence detail;  // What follows it, if anything. The two together end in a full stop.
};
std::string plain(const Paragraph& paragraph);

// Who holds the growth, where that was seen; the causes, the likeliest first, then the evidence
// that no other block of the report tells.
std::vector<Paragraph> why_of(const Verdict& verdict);

// What will happen and what to do, the most useful first.
std::vector<Paragraph> next_of(const Verdict& verdict);

// "per-example cache (decoded data kept), 79 %" and, where the evidence is told, ": <evidence>".
Paragraph cause_paragraph(const Cause& cause, const Verdict& verdict, bool with_evidence = true);

// The fix, with what it would give back where that is known.
Sentence fix_of(const Cause& cause, const Verdict& verdict);

}  // namespace plateau
