// SPDX-License-Identifier: Apache-2.0
// A sentence of the report in which every figure links to its explanation.

import type { Sentence } from "./data";
import { Num } from "./number";

export function Said({ sentence }: { sentence: Sentence }) {
  return (
    <>
      {sentence.map((fragment, i) =>
        typeof fragment === "string" ? (
          fragment
        ) : (
          <Num key={i} k={fragment[1]}>
            {fragment[0]}
          </Num>
        ),
      )}
    </>
  );
}
