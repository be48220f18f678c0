// SPDX-License-Identifier: Apache-2.0
// Finds the numbers in a sentence of the report, and the key of docs/report-fields.md that each is
// about. The sentences come as text from the program; what a number is, is told by its unit and by
// the words beside it, else it is what the sentence is about.

const kOne = String.raw`\d+(?:,\d{3})*(?:\.\d+)?`;
const kUnit = String.raw`(?: ?[TGMk]?B\b(?:\/\w+| per (?:${kOne} )?[a-z]+)?| %)?`;
const kNumber = new RegExp(String.raw`(?<![\w:./'-])(?:[<>] (?=[\d.]+ %))?[+-]?${kOne}(?: ?(?:→|–|±|to) ?${kOne})*${kUnit}(?![\w/])`, "g");

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

export interface Part {
  text: string;
  key: string | null; // null: plain words.
}

export function partsOf(text: string, about: string): Part[] {
  const parts: Part[] = [];
  let done = 0;
  for (const match of text.matchAll(kNumber)) {
    const to = match.index + match[0].length;
    if (match.index > done) parts.push({ text: text.slice(done, match.index), key: null });
    parts.push({ text: match[0], key: keyOf(text, match.index, to, about) });
    done = to;
  }
  if (done < text.length) parts.push({ text: text.slice(done), key: null });
  return parts;
}
