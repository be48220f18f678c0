// SPDX-License-Identifier: Apache-2.0
// Options that several verbs take, declared and read in one place so that they mean the same.
#pragma once

#include <vector>

#include "base/result.h"
#include "command/verb.h"
#include "recording/facts.h"  // apply_facts(), for those who take given_facts().
#include "recording/run.h"
#include "report/text.h"
#include "session/session.h"
#include "verdict/expectation.h"
#include "verdict/verdict.h"

namespace plateau {

Options recording_options();  // --force, --no-redact: how a recording is written.
Options context_options();    // One for each of kFacts: --examples, --limit, ...
Option strict_option();       // --strict, for verbs that judge and expect nothing.
Options expect_options();     // --expect, --settle-by, --spread, --strict
// --quiet, which does what `quiet` says, --no-plot, --color, --width
Options look_options(const std::string& quiet = "Print one line and nothing else.");

void take_recording_options(const Arguments& arguments, SessionOptions& options);
Context given_facts(const Arguments& arguments);
Policy policy_of(const Arguments& arguments);
Result<Expectation> expectation_of(const Arguments& arguments);
// How to draw on `fd`.
View view_of(const Arguments& arguments, int fd);

}  // namespace plateau
