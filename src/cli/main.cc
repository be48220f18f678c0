// SPDX-License-Identifier: Apache-2.0
// Plateau's table of contents: one line a verb, each in the file of its name.
#include <csignal>
#include <string>
#include <vector>

#include "cli/help_verb.h"
#include "cli/verbs.h"
#include "command/dispatch.h"

int main(int argc, char** argv) {
  const std::vector<plateau::Verb> verbs = {
      plateau::judge_verb(),       // Leak or plateau, and why.
      plateau::run_verb(),         // Start a job and watch it.
      plateau::watch_verb(),       // The same for a job that already runs.
      plateau::status_verb(),      // How they stand, in a line.
      plateau::profile_verb(),     // What in memory grows.
      plateau::try_verb(),         // An experiment inside a running process.
      plateau::prove_verb(),       // The experiment that decides, run by itself.
      plateau::compare_verb(),     // Did the fix work?
      plateau::report_verb(),      // All of it as one HTML page.
      plateau::serve_verb(),       // The same to look at, live, in a browser.
      plateau::fleet_verb(),       // Every job that a database of metrics knows.
      plateau::train_verb(),       // Fine-tune a vision-language model.
      plateau::plan_verb(),        // The memory of anyone's training, before it starts.
      plateau::check_data_verb(),  // A dataset, before anyone trains on it.
      plateau::convert_verb(),     // What was understood of a log, as tidy CSV.
      plateau::dump_verb(),        // What a recording holds, record by record.
      plateau::doctor_verb(),      // What works on this machine.
      plateau::completion_verb(),  // For bash, zsh and fish.
      plateau::man_verb(),         // The manual page.
      plateau::help_verb(),
  };
  // A reader that goes away shows as a failed write, which Output treats as the end.
  std::signal(SIGPIPE, SIG_IGN);
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  plateau::Output out(stdout, stderr);
  return plateau::dispatch(plateau::plateau_program(), verbs, words, out);
}
