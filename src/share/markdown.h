// SPDX-License-Identifier: Apache-2.0
// A verdict as Markdown: for an issue, a pull request, a notebook, the summary of a CI job.
//
// The answer is the heading; then what happened, the key figures, causes, what to do, doubts, and
// the terminal's own report with its plot, folded away. Names and sentences are data here: whatever
// would be Markdown or HTML in them is escaped, and a code block is fenced longer than any fence
// inside. The page's "copy as Markdown" button writes the same parts (web/src/copy.ts).
#pragma once

#include <string>
#include <string_view>

#include "verdict/compare.h"
#include "verdict/verdict.h"

namespace plateau {

// One line of Markdown that shows `text` as it is. `printable` text or not: line ends become
// spaces.
std::string markdown_escaped(std::string_view text);

// `text` as a code block that ends where it should.
std::string markdown_code_block(std::string_view text);

// Ends in a line end. `picture` is the address of the chart; without one, the chart is drawn in
// Mermaid's language, which GitHub and GitLab show as a picture.
std::string verdict_markdown(const Verdict& verdict, std::string_view picture = "");

// What changed against the baseline, as a table, with each side's answer.
std::string comparison_markdown(const Comparison& comparison);

}  // namespace plateau
