// SPDX-License-Identifier: Apache-2.0
// Where the reader is in the flame graph: the way of zooms and the chosen frame.
//
// Frames are numbers of one tree. When the tree changes (other widths, or new data of a live job), the
// same frames are looked for in the new one by their names, so that the reader stays where they were.

import { useMemo, useState } from "preact/hooks";
import { type FrameTree, pathTo } from "./tree";

export interface Place {
  zooms: number[]; // The last one is drawn over the full width; the others are the way out.
  selected: number | null;
}

interface Held extends Place {
  tree: FrameTree;
  names: string[];
}

const kStart: Place = { zooms: [0], selected: null };

// The node with the same names on the way to it, or null.
export function sameNode(from: FrameTree, fromNames: string[], to: FrameTree, toNames: string[], node: number): number | null {
  let at = 0;
  for (const step of pathTo(from, node)) {
    const name = fromNames[from.frame[step]!];
    let child = at + 1;
    while (child < to.end[at]! && toNames[to.frame[child]!] !== name) child = to.end[child]!;
    if (child >= to.end[at]!) return null;
    at = child;
  }
  return at;
}

function carried(held: Held, tree: FrameTree, names: string[]): Place {
  const find = (node: number): number | null => sameNode(held.tree, held.names, tree, names, node);
  const zooms = held.zooms.map(find).filter((node) => node !== null && (node === 0 || tree.w[node]! > 0)) as number[];
  return { zooms: zooms.length === 0 ? [0] : zooms, selected: held.selected === null ? null : find(held.selected) };
}

export function usePlace(tree: FrameTree, names: string[]): [Place, (next: Place) => void] {
  const [held, setHeld] = useState<Held>({ ...kStart, tree, names });
  const place = useMemo(() => (held.tree === tree ? held : carried(held, tree, names)), [held, tree, names]);
  return [place, (next) => setHeld({ ...next, tree, names })];
}
