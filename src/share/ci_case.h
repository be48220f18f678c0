// SPDX-License-Identifier: Apache-2.0
// What a gate in CI was told, one case a file or a comparison: the same facts for JUnit and SARIF.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "verdict/compare.h"
#include "verdict/verdict.h"

namespace plateau {

enum class CaseOutcome : uint8_t {
  passed,
  failed,  // A leak, an expectation that is not met, a change for the worse.
  open,    // Undecided: no failure, and no all-clear.
  broken,  // The file could not be read.
};

// How a case turned out, by the exit code that it would give alone.
CaseOutcome outcome_of_exit(int code);

struct CiCase {
  std::string name;  // The file.
  CaseOutcome outcome = CaseOutcome::passed;
  std::string message;  // One line.
  std::string report;   // As the terminal shows it, several lines.
  std::string rule;     // Id of the likeliest cause, "growth" where none is named.
  std::string file;     // Where to look: the code that holds what grows if that is known, ...
  int line = 1;         // ... else the first line of the log.
};

// `unmet` are the expectations that do not hold, a sentence each.
CiCase case_of(const Verdict& verdict, CaseOutcome outcome, const std::vector<std::string>& unmet);
CiCase case_of(const Comparison& comparison, const Change& change);
CiCase broken_case(const std::string& file, const std::string& why);

// One <testsuite>, as the common JUnit schema has it. `suite` is "plateau judge".
std::string junit_xml(const std::string& suite, const std::vector<CiCase>& cases);

// SARIF 2.1.0: a result for each case that failed or is open, under the rule of its cause.
std::string sarif_json(const std::vector<CiCase>& cases);

}  // namespace plateau
