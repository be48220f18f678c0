// SPDX-License-Identifier: Apache-2.0
// Files that the tools of a CI read: --junit, --sarif and --summary, as several verbs take them.
#pragma once

#include <string>
#include <vector>

#include "command/verb.h"
#include "share/ci_case.h"

namespace plateau {

Options ci_options();  // --junit, --sarif, --summary
bool ci_files_wanted(const Arguments& arguments);

// Writes those that were asked for; `markdown` goes to the end of the summary, which may have words
// of others in it. Says what went wrong; returns the exit code for that.
int write_ci_files(const Invocation& invocation, const std::vector<CiCase>& cases,
                   const std::string& markdown);

}  // namespace plateau
