// SPDX-License-Identifier: Apache-2.0
// The document behind the HTML page: everything it shows of one or more runs, as JSON.
//
// docs/formats/page-data.md explains each key; web/src/data.ts holds the same as types. Nothing is
// judged here: what was found out stands in the Answer, so that the terminal, --json and the page
// cannot disagree.
//
// Bounded: of long runs at most kMostShown instants are sent, of each stretch the lowest and the
// highest value of every line. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "answer/answer.h"
#include "recording/run.h"
#include "verdict/compare.h"

namespace plateau {

inline constexpr size_t kMostShown = 4000;

// `comparison` is of these runs, the first being the baseline; nullptr: none. What an answer
// without detail lacks is left empty. Requires: at least one run, and an answer for each.
std::string page_data_json(std::span<const Run> runs, std::span<const Answer> answers,
                           const Comparison* comparison = nullptr);

// The document of a page that has nothing to show yet.
std::string empty_page_json();

}  // namespace plateau
