// SPDX-License-Identifier: Apache-2.0
// Runs a real program under the tracer, to its end, and reads what it left.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tracer/testing/segment_reader.h"

namespace plateau::trace::testing {

struct TracedRun {
  int status = 0;  // As waitpid gives it.
  std::string output;
  std::vector<SegmentContents> segments;

  [[nodiscard]] const SegmentContents* of(uint32_t pid) const;  // The last of that process.
};

struct RunRequest {
  std::vector<std::string> command;
  std::string mode = "exact:0";  // Empty: without the tracer.
  std::string also_preload;      // Another allocator, say.
  std::string directory;         // Of segments; empty: a fresh one.
  bool ask_account = false;      // Ask for the allocator's account after the first output.
};

// The program's input ends after its first output.
TracedRun run_traced(const RunRequest& request);

// Where the programs of tracer/testing/ were built, and the tracer itself.
std::string target_program(const std::string& name);
std::string tracer_library();

}  // namespace plateau::trace::testing
