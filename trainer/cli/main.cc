// SPDX-License-Identifier: Apache-2.0
// plateau-train's table of contents: one line a verb, each in the file of its name.
#include <csignal>
#include <string>
#include <vector>

#include "command/dispatch.h"
#include "command/output.h"
#include "trainer/cli/loader_path.h"
#include "trainer/cli/verbs.h"

int main(int argc, char** argv) {
  plateau::train::restore_loader_path();
  const std::vector<plateau::Verb> verbs = {
      plateau::train::init_command(),    // A model and a dataset to try everything with.
      plateau::train::plan_command(),    // The memory of a run, before it starts.
      plateau::train::train_command(),   // The run.
      plateau::train::ask_command(),     // What has it learned?
      plateau::train::merge_command(),   // Adapter and weights become a model.
      plateau::train::check_command(),   // Does the model compute what the reference computes?
      plateau::train::render_command(),  // What does a chat template make of a conversation?
  };
  std::signal(SIGPIPE, SIG_IGN);
  // A file above the limit of `ulimit -f` is an error of the write, as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  plateau::Output out(stdout, stderr, "plateau-train");
  return plateau::dispatch(plateau::train::trainer_program(), verbs, words, out);
}
