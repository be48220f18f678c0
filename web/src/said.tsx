// SPDX-License-Identifier: Apache-2.0
// A sentence of the report in which every number links to its explanation; `k` is the key of what
// the sentence is about.

import { Num } from "./number";
import { partsOf } from "./said_numbers";

export function Said({ text, k }: { text: string; k: string }) {
  return (
    <>
      {partsOf(text, k).map((part, i) =>
        part.key === null ? (
          part.text
        ) : (
          <Num key={i} k={part.key}>
            {part.text}
          </Num>
        ),
      )}
    </>
  );
}
