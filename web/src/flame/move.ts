// SPDX-License-Identifier: Apache-2.0
// Where the arrow keys lead: outwards to the caller, inwards to the widest call, sideways to the
// next frame of the same row that is wide enough to be seen.

import type { FrameTree } from "./tree";

export type Way = "out" | "in" | "left" | "right";

// The frame to go to, or `node` itself where there is none. Frames narrower than `least` (a share of
// the whole) are passed over.
export function stepTo(tree: FrameTree, zoom: number, node: number, way: Way, least: number): number {
  if (way === "out") return tree.parent[node]! >= 0 ? tree.parent[node]! : node;
  if (way === "in") {
    // Above the zoomed frame only the way to it is drawn.
    if (node < zoom && zoom < tree.end[node]!) {
      let next = zoom;
      while (tree.parent[next]! !== node) next = tree.parent[next]!;
      return next;
    }
    const child = node + 1;
    return child < tree.end[node]! && tree.w[child]! >= least ? child : node;
  }
  if (node < zoom || node >= tree.end[zoom]!) return node;
  const row = tree.rows[tree.depth[node]!]!;
  const step = way === "left" ? -1 : 1;
  for (let i = row.indexOf(node) + step; i >= 0 && i < row.length; i += step) {
    const next = row[i]!;
    if (next < zoom || next >= tree.end[zoom]!) break;
    if (tree.w[next]! >= least) return next;
  }
  return node;
}
