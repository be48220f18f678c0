// SPDX-License-Identifier: Apache-2.0
// A sentence of the report in which every number links to its explanation. The sentences come as
// text from the program; what a number in them is, is told by its unit and by the words around it,
// else it is what the sentence is about (`k`).

import type { ComponentChildren } from "preact";
import { Num } from "./number";

const kNumber =
  /(?<![\w:./'-])[+-]?\d[\d,]*(?:\.\d+)?(?: ?(?:→|–|±|to) ?\d[\d,]*(?:\.\d+)?)*(?: ?(?:[TGMk]?B)\b(?:\/\w+| per [\d,]* ?[a-z]+)?| %)?(?![\w/])/g;

// The first rule that fits decides. `near` is the number with a few characters on both sides.
const rules: { fits: RegExp; key: string }[] = [
  { fits: /per example|of an example/, key: "mb_per_example" },
  { fits: /90 %:?/, key: "growth.rate_low" },
  { fits: /B\/|B per (?!example)/, key: "growth.rate_mb_per_step" },
  { fits: /→/, key: "first_mb" },
  { fits: /±/, key: "settled.low_mb" },
  { fits: /limit (of )?[\d(]/, key: "risk.limit_mb" },
  { fits: /spikes? of/, key: "spikes.count" },
  { fits: /\d [TGMk]?B would come back/, key: "advice[].fix" },
];

function keyOf(text: string, from: number, to: number, fallback: string): string {
  const near = text.slice(Math.max(0, from - 7), to + 16);
  const own = text.slice(from, to);
  for (const { fits, key } of rules) {
    const place = key === "risk.limit_mb" || key === "mb_per_example" || key === "advice[].fix" ? near : own;
    if (fits.test(place)) return key;
  }
  return fallback;
}

export function Said({ text, k }: { text: string; k: string }) {
  const parts: ComponentChildren[] = [];
  let done = 0;
  for (const match of text.matchAll(kNumber)) {
    const to = match.index + match[0].length;
    parts.push(text.slice(done, match.index));
    parts.push(
      <Num key={match.index} k={keyOf(text, match.index, to, k)}>
        {match[0]}
      </Num>,
    );
    done = to;
  }
  parts.push(text.slice(done));
  return <>{parts}</>;
}
