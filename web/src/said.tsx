// SPDX-License-Identifier: Apache-2.0
// A sentence of the report in which every figure links to its explanation.

import type { Sentence } from "./data";
import { Num } from "./number";

// A percentage stays on one line.
const whole = (words: string) => words.replaceAll(" %", "\u00a0%");

export function Said({ sentence }: { sentence: Sentence }) {
  return (
    <>
      {sentence.map((fragment, i) =>
        typeof fragment === "string" ? (
          whole(fragment)
        ) : (
          <Num key={i} k={fragment[1]}>
            {fragment[0]}
          </Num>
        ),
      )}
    </>
  );
}
