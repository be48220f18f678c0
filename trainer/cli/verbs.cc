// SPDX-License-Identifier: Apache-2.0
#include "trainer/cli/verbs.h"

#include "command/exit_code.h"

namespace plateau::train {

Program trainer_program() {
  return {.name = "plateau-train",
          .tagline = "fine-tune vision-language models, with memory use known before step 1",
          .way_in =
              "Start with a small model that trains in about a minute:\n"
              "  plateau-train init --preset tiny -o tiny\n"
              "  plateau-train train -m tiny/model -d tiny/train.jsonl "
              "--eval-dataset tiny/eval.jsonl -o out\n",
          .exits = {{"0", "done"}, {"2", "bad options or input"}}};
}

int complain(const Invocation& invocation, const std::string& message) {
  invocation.out.complain(invocation.verb.name, message);
  return kExitTrouble;
}

}  // namespace plateau::train
