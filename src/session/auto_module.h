// SPDX-License-Identifier: Apache-2.0
// Our Python module's way into a job: clients/auto, first on PYTHONPATH, where every interpreter of
// the job finds a sitecustomize that learns steps and epochs from the framework (docs/auto.md).
//
// Interpreters started with -I, -E or -S, or with a cleaned environment, do not look there: they
// run as before, and steps come from the job's own words or its output (missing_module.h says so).
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "inject/inject.h"

namespace plateau {

// What the job's environment needs for it: "PYTHONPATH=...", with what it is in our environment
// behind. With `wanted` false, or PLATEAU_AUTO=0 in our environment, only what keeps it out. Where
// the module is not installed, `trouble` says so, and nothing is set.
std::vector<std::string> auto_environment(bool wanted, std::string& trouble);

// Where the module is; empty if it is not installed.
std::string auto_module_directory();

// Brings it into a Python process that runs already, where it speaks to the socket at `socket`: the
// process imports it itself, between two bytecodes of its main thread (inject/python_line.h). It
// stays there until that process ends. It may take `timeout_s` for the main thread to come to it.
Result<Intrusion> bring_auto_module(pid_t pid, const std::string& socket, double timeout_s);

}  // namespace plateau
