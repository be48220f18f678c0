// SPDX-License-Identifier: Apache-2.0
// Which frames match a search, and what share of the picture they hold together.

import type { FrameTree } from "./tree";

export interface Matches {
  frames: Uint8Array; // Per frame of the heap: 1 if its name holds the words.
  share: number; // Of the width; a match below a match is not counted again.
  nodes: number;
}

// Case does not matter. null for an empty query.
export function findFrames(tree: FrameTree, names: string[], query: string): Matches | null {
  const words = query.trim().toLowerCase();
  if (words === "") return null;
  const frames = new Uint8Array(names.length);
  names.forEach((name, i) => {
    if (name.toLowerCase().includes(words)) frames[i] = 1;
  });
  let share = 0;
  let nodes = 0;
  let countedUntil = 0;
  for (let node = 1; node < tree.count; ++node) {
    if (frames[tree.frame[node]!] !== 1) continue;
    ++nodes;
    if (node < countedUntil) continue;
    share += tree.w[node]!;
    countedUntil = tree.end[node]!;
  }
  return { frames, share, nodes };
}
