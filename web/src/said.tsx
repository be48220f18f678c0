// SPDX-License-Identifier: Apache-2.0
// A sentence of the report in which every figure links to its explanation.

import type { ComponentChildren } from "preact";
import type { Sentence } from "./data";
import { Num } from "./number";

// A percentage stays on one line, and so does the name of an option: a browser would break it at its
// hyphens.
export function whole(words: string): ComponentChildren {
  const parts = words.replaceAll(" %", "\u00a0%").split(/(--[a-z][a-z-]{0,38}[a-z])/);
  if (parts.length === 1) return parts[0];
  return parts.map((part, i) => (i % 2 === 0 ? part : <span key={i} class="nowrap">{part}</span>));
}

export function Said({ sentence }: { sentence: Sentence }) {
  return (
    <>
      {sentence.map((fragment, i) =>
        typeof fragment === "string" ? (
          whole(fragment)
        ) : (
          <Num key={i} k={fragment[1]}>
            {whole(fragment[0])}
          </Num>
        ),
      )}
    </>
  );
}
