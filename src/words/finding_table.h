// SPDX-License-Identifier: Apache-2.0
// Every kind of finding in words: one row each, with its stable id and its template.
//
// Requires for all functions: names in a finding are printable (see report/printable.h).
#pragma once

#include <string>
#include <string_view>

#include "words/sentence.h"

namespace plateau {

// The block of a report that tells a finding; how the job ended stands before the reasons. A reader
// wants each fact once: what the course, the peaks, the process line or the outlook say is not
// repeated among the reasons.
enum class Block : uint8_t { why, course, peaks, who, next, end };

struct FindingRow {
  FindingKind kind = FindingKind::none;
  std::string_view id;  // "stopped-with-first-pass": in JSON and docs/formats/answer.md.
  Block block = Block::why;
  std::string_view pattern;  // See sentence.h. Evidence has a full stop, fragments have none.
};

const FindingRow& row_of(FindingKind kind);

// The finding in words; nothing for a finding of kind `none`.
Sentence tell(const Finding& finding, const Telling& telling);
// The same as plain text, for findings of this verdict.
std::string tell(const Finding& finding, const Verdict& verdict);
Sentence tell_sentence(const Finding& finding, const Verdict& verdict);

}  // namespace plateau
