// SPDX-License-Identifier: Apache-2.0
// The document behind the HTML page: everything it shows of one or more runs, as JSON.
//
// docs/formats/page-data.md explains each key; web/src/data.ts holds the same as types. The page
// only draws: what is computed is computed here or in the verdict, so that the terminal, --json and
// the page cannot disagree.
//
// Bounded: of long runs at most kMostShown instants are sent, of each stretch the lowest and the
// highest value of every line. Pure apart from reading symbol files for heaps.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "recording/run.h"
#include "verdict/verdict.h"

namespace plateau {

struct PageOptions {
  Policy policy;
  // At most so many earlier moments are judged again for "when did it know"; 0 leaves that out.
  size_t replay_moments = 96;
  bool heaps = true;  // Name call stacks, which reads symbol files.
};

inline constexpr size_t kMostShown = 4000;

// Requires: at least one run. The first is the baseline; two or more are also compared. What was
// answered for each run, as `plateau judge` answers, is appended to `verdicts` if that is given.
std::string page_data_json(std::span<const Run> runs, const PageOptions& options = {},
                           std::vector<Verdict>* verdicts = nullptr);

// The document of a page that has nothing to show yet.
std::string empty_page_json();

}  // namespace plateau
