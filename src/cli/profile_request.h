// SPDX-License-Identifier: Apache-2.0
// What `plateau profile` was asked, as one struct.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/pattern.h"
#include "base/result.h"
#include "command/verb.h"
#include "recording/run.h"
#include "report/profile_view.h"
#include "report/text.h"

namespace plateau {

Options profile_options();

struct ProfileRequest {
  enum class Shape : uint8_t { list, flat, tree, inverted, peak, temporary, around };

  std::string target;  // A file, or a pid if there is no such file.
  std::optional<int64_t> pid;
  std::string process;  // Pid or name of the process wanted; empty: the one that grows most.
  Context given;
  ProfileOptions options;
  Shape shape = Shape::list;
  std::optional<Pattern> around;  // Of shape around: the function.
  ListLooks looks;
  std::string format;    // Of an export: "folded", "speedscope", "pprof"; empty: none.
  bool rss = false;      // The ledger of resident memory.
  bool objects = false;  // Count Python objects of a live process.
  double trace_s = 0;    // Load the tracer into the process for so long; 0: do not.
  bool json = false;
  bool quiet = false;
  View view;
};

Result<ProfileRequest> profile_request(const Invocation& invocation);

}  // namespace plateau
