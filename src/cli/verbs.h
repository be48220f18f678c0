// SPDX-License-Identifier: Apache-2.0
// The verbs of plateau, each declared and carried out in the file of its name.
#pragma once

#include "command/verb.h"

namespace plateau {

Verb judge_verb();    // Leak or plateau, and why.
Verb run_verb();      // Start a job, watch its whole process tree, say the verdict at the end.
Verb watch_verb();    // The live screen of a job that already runs, or a line now and then.
Verb status_verb();   // The jobs that are being recorded, a line each; for prompts.
Verb profile_verb();  // Which call stacks, Python types and tensors grow.
Verb try_verb();      // An experiment inside a running process, and what it proves.
Verb prove_verb();    // The experiment that decides between a cache and a leak, run by itself.
Verb compare_verb();  // Did the fix work?
Verb report_verb();   // Everything about a run in one file: page, Markdown, chart.
Verb serve_verb();    // The live page of runs, over HTTP.
Verb fleet_verb();    // Every job that a Prometheus-compatible database knows.
// A verb of the program plateau-train, which stands beside this one because it needs LibTorch. Its
// options are declared there; run() becomes it.
Verb train_verb();
Verb plan_verb();        // The memory of a training run, before it starts.
Verb check_data_verb();  // A dataset, before anyone trains on it.
Verb doctor_verb();      // What works on this machine, and how to allow the rest.
Verb convert_verb();     // What was understood of a log, as tidy CSV.
Verb dump_verb();        // What a recording holds.
Verb completion_verb();  // Completions for a shell, from the table of verbs.
Verb man_verb();         // The manual page, from the table of verbs.
Verb help_verb();        // What plateau says of itself and of a verb.

}  // namespace plateau
