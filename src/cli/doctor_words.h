// SPDX-License-Identifier: Apache-2.0
// What works on this machine and what does not, in sentences, with what would allow it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "probe/machine.h"

namespace plateau {

// What the machine's facts do not hold: the installation, and this process's environment.
struct OwnFacts {
  std::string tracer;  // Paths; empty: not found.
  std::string module;  // What learns steps inside the job's Python.
  std::string trainer;
  bool attaches = false;         // Attaching is built for this processor.
  bool loads_libraries = false;  // The static program cannot.
  bool servers_named = false;    // DEBUGINFOD_URLS is set,
  bool debuginfod = false;       // and they can be asked.
};

struct Check {
  enum class State : uint8_t { works, limited, missing };

  std::string name;  // One word: a key in --json.
  State state = State::works;
  std::string text;    // What is so; a clause.
  std::string remedy;  // What would allow more; empty: nothing, or nothing is needed.
  bool essential = false;
};

std::string_view state_word(Check::State state);

// In the order of the screen: what watching needs first. `census_knows` says of a minor version of
// CPython 3 whether its objects can be read.
std::vector<Check> doctor_checks(const MachineFacts& machine, const OwnFacts& own,
                                 bool (*census_knows)(int minor));

// Whether all that is essential works.
bool essentials_work(const std::vector<Check>& checks);

}  // namespace plateau
