// SPDX-License-Identifier: Apache-2.0
// The verdict's word with a sign of its own shape, so that it reads without colour: a disc with a
// tick (plateau), a triangle with a bang (leak), a diamond with a slope that levels off
// (warming), a ring with a question mark (undecided).

import type { Word } from "./data";

const shapes: Record<Word, { body: string; sign: string; hollow: boolean }> = {
  plateau: { body: "M12 1a11 11 0 1 0 0 22a11 11 0 1 0 0-22z", sign: "M6.5 12.5l4 4l7-8", hollow: false },
  leak: { body: "M12 1.2L23.4 21.5a1 1 0 0 1-.9 1.5h-21a1 1 0 0 1-.9-1.5z", sign: "M12 8.5v7M12 18.9v.6", hollow: false },
  warming: { body: "M12 .6L23.4 12L12 23.4L.6 12z", sign: "M6.8 15.2l4.7-5.4h5.7", hollow: false },
  undecided: {
    body: "M12 2a10 10 0 1 0 0 20a10 10 0 1 0 0-20z",
    sign: "M9 9.3a3 3 0 1 1 4.4 2.6c-.9.5-1.4 1-1.4 2.1M12 17.2v.5",
    hollow: true,
  },
};

export function WordIcon({ word }: { word: Word }) {
  const shape = shapes[word];
  return (
    <svg class={shape.hollow ? "icon hollow" : "icon"} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path class="body" d={shape.body} />
      <path class="sign" d={shape.sign} />
    </svg>
  );
}

export function WordTag({ word }: { word: Word }) {
  return (
    <span class={`word is-${word}`}>
      <WordIcon word={word} />
      {word}
    </span>
  );
}
