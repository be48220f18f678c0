// SPDX-License-Identifier: Apache-2.0
// A sentence of the report in which every number links to its explanation. The sentences come as
// text from the program; what a number in them is, is told by its unit and by the words around it,
// else it is what the sentence is about (`k`).

import type { ComponentChildren } from "preact";
import { Num } from "./number";

const kOne = String.raw`\d+(?:,\d{3})*(?:\.\d+)?`;
const kUnit = String.raw`(?: ?[TGMk]?B\b(?:\/\w+| per (?:${kOne} )?[a-z]+)?| %)?`;
const kNumber = new RegExp(String.raw`(?<![\w:./'-])[+-]?${kOne}(?: ?(?:→|–|±|to) ?${kOne})*${kUnit}(?![\w/])`, "g");

// The first rule that fits decides: by the number with its unit, or by the words before or after it.
const rules: { place: "before" | "own" | "after"; fits: RegExp; key: string }[] = [
  { place: "before", fits: /pid $/, key: "process.pid" },
  { place: "before", fits: /limit (of |is )?$/, key: "risk.limit_mb" },
  { place: "after", fits: /^ (per|for each) example/, key: "mb_per_example" },
  { place: "after", fits: /^ would come back/, key: "advice[].fix" },
  { place: "after", fits: /^ spikes?\b/, key: "spikes.count" },
  { place: "own", fits: /per example/, key: "mb_per_example" },
  { place: "own", fits: /^90 %/, key: "growth.rate_low" },
  { place: "own", fits: /B\/|B per /, key: "growth.rate_mb_per_step" },
  { place: "own", fits: /→/, key: "first_mb" },
  { place: "own", fits: /±/, key: "settled.low_mb" },
];

function keyOf(text: string, from: number, to: number, fallback: string): string {
  const places = { before: text.slice(0, from), own: text.slice(from, to), after: text.slice(to) };
  return rules.find(({ place, fits }) => fits.test(places[place]))?.key ?? fallback;
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
