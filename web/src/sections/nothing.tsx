// SPDX-License-Identifier: Apache-2.0
// The page of a file in which there is nothing to judge: says so, and what to do about it.

import { WordIcon } from "../word";

export function Nothing() {
  return (
    <main>
      <header id="answer" class="answer is-undecided">
        <div class="banner">
          <WordIcon word="undecided" />
          <div class="banner-words">
            <h1>
              <span class="big-word">no data</span>
              <span class="headline">nothing was recorded</span>
            </h1>
            <p>The input holds no memory samples, so there is no answer.</p>
          </div>
        </div>
        <div class="cards one">
          <div class="card">
            <h2>What to do</h2>
            <p>
              Record the job itself: <code>plateau run -o job.plateau -- python train.py</code>, then{" "}
              <code>plateau report job.plateau -o report.html</code>.
            </p>
            <p>
              Or give a log with a step and a memory figure on each line; <code>plateau judge --help</code> names the formats
              that are read.
            </p>
          </div>
        </div>
      </header>
    </main>
  );
}
