// SPDX-License-Identifier: Apache-2.0
// A training loop that says its steps: the smallest use of plateau.hpp.
#include "plateau.hpp"

int main() {
  plateau::Client watcher;
  plateau::Facts facts;
  facts.total_steps = 20;
  facts.examples = 100;
  facts.batch = 10;
  watcher.run_facts(facts);
  for (int step = 1; step <= 20; ++step) {
    watcher.step(step, step / 10.0);
    watcher.gauge("queue", step % 3);
    if (step % 10 == 0) {
      const auto phase = watcher.evaluate();
    }
  }
  watcher.mark("checkpoint");
  return 0;
}
