// SPDX-License-Identifier: Apache-2.0
// Call stacks as a tree of frames that can be drawn: the model behind the flame graph.
//
// Question: which calls hold the memory, or caused its growth? Stacks that begin alike share frames.
// A frame is as wide as all stacks that pass through it: by what they hold now ("live"), or by what
// they gained ("growth"). Stacks that shrank have no width in the latter: a frame with +30 and -10 MB
// below it is 30 wide, and its tooltip says +20. So widths always add up, and nothing is negative.
//
// The nodes stand in one order, each before what it calls and the widest call first; `end` is the
// first node that is no longer below it. Drawing is one pass over that order which jumps over
// whole subtrees that are too narrow to see, so that its cost follows the picture, not the tree.
//
// Example: main>load 3 MB, main>decode 1 MB gives nodes all, main, load, decode with end 4, 4, 3, 4.

import type { HeapPage } from "../data";

export type Width = "growth" | "live";

export interface FrameTree {
  count: number; // Of nodes; node 0 is the whole heap.
  frame: Int32Array; // Index into the heap's frames; -1 of node 0.
  parent: Int32Array; // -1 of node 0.
  end: Int32Array;
  depth: Int32Array;
  x: Float64Array; // Left edge and width, as shares of the whole.
  w: Float64Array;
  mb: Float64Array; // Alive, and its growth, of all stacks through the node.
  growth_mb: Float64Array;
  rows: Int32Array[]; // The nodes of each depth, from left to right.
  nodeOfStack: Int32Array; // Where each of the heap's stacks ends.
  total: number; // What the whole width stands for, in MB.
}

interface Trie {
  frame: number[];
  parent: number[];
  weight: number[];
  mb: number[];
  growth_mb: number[];
  leaf: Int32Array; // Per stack.
}

function gather(stacks: HeapPage["stacks"], frames: number, width: Width): Trie {
  const trie: Trie = { frame: [-1], parent: [-1], weight: [0], mb: [0], growth_mb: [0], leaf: new Int32Array(stacks.length) };
  const known = new Map<number, number>(); // Parent and frame in one number -> node.
  const add = (node: number, mb: number, growth: number): void => {
    trie.weight[node]! += Math.max(0, width === "growth" ? growth : mb);
    trie.mb[node]! += mb;
    trie.growth_mb[node]! += growth;
  };
  stacks.forEach((stack, index) => {
    let node = 0;
    add(node, stack.mb, stack.growth_mb);
    for (const frame of stack.frames) {
      const key = node * (frames + 1) + frame;
      let next = known.get(key);
      if (next === undefined) {
        next = trie.frame.length;
        known.set(key, next);
        trie.frame.push(frame);
        trie.parent.push(node);
        trie.weight.push(0);
        trie.mb.push(0);
        trie.growth_mb.push(0);
      }
      node = next;
      add(node, stack.mb, stack.growth_mb);
    }
    trie.leaf[index] = node;
  });
  return trie;
}

// Every node's children, the widest first.
function childrenOf(trie: Trie): number[][] {
  const children: number[][] = trie.frame.map(() => []);
  for (let node = 1; node < trie.frame.length; ++node) children[trie.parent[node]!]!.push(node);
  for (const list of children) {
    if (list.length > 1) list.sort((a, b) => trie.weight[b]! - trie.weight[a]! || a - b);
  }
  return children;
}

export function frameTree(heap: Pick<HeapPage, "frames" | "stacks">, width: Width): FrameTree {
  const trie = gather(heap.stacks, heap.frames.length, width);
  const children = childrenOf(trie);
  const count = trie.frame.length;
  const total = trie.weight[0]!;
  const tree: FrameTree = {
    count,
    frame: new Int32Array(count),
    parent: new Int32Array(count),
    end: new Int32Array(count),
    depth: new Int32Array(count),
    x: new Float64Array(count),
    w: new Float64Array(count),
    mb: new Float64Array(count),
    growth_mb: new Float64Array(count),
    rows: [],
    nodeOfStack: new Int32Array(heap.stacks.length),
    total,
  };
  const place = new Int32Array(count); // Trie node -> place in the order.
  const rows: number[][] = [];
  // Not recursive: stacks of runaway recursion are thousands of frames deep.
  const open: { node: number; at: number; next: number; x: number }[] = [];
  let placed = 0;
  const enter = (node: number, x: number): void => {
    const at = placed++;
    const depth = open.length;
    place[node] = at;
    tree.frame[at] = trie.frame[node]!;
    tree.parent[at] = depth === 0 ? -1 : open[depth - 1]!.at;
    tree.depth[at] = depth;
    tree.x[at] = x;
    tree.w[at] = total > 0 ? trie.weight[node]! / total : 0;
    tree.mb[at] = trie.mb[node]!;
    tree.growth_mb[at] = trie.growth_mb[node]!;
    (rows[depth] ??= []).push(at);
    open.push({ node, at, next: 0, x });
  };
  enter(0, 0);
  while (open.length > 0) {
    const top = open[open.length - 1]!;
    const child = children[top.node]![top.next];
    if (child === undefined) {
      tree.end[top.at] = placed;
      open.pop();
      continue;
    }
    ++top.next;
    const x = top.x;
    top.x += total > 0 ? trie.weight[child]! / total : 0;
    enter(child, x);
  }
  tree.rows = rows.map((row) => Int32Array.from(row));
  for (let i = 0; i < trie.leaf.length; ++i) tree.nodeOfStack[i] = place[trie.leaf[i]!]!;
  return tree;
}

// The frames from the outermost to `node`, without the node of the whole heap.
export function pathTo(tree: FrameTree, node: number): number[] {
  const path: number[] = [];
  for (let at = node; at > 0; at = tree.parent[at]!) path.push(at);
  return path.reverse();
}

// The node of a row that covers `x`, or null. Rows are sorted, with gaps.
export function nodeAt(tree: FrameTree, depth: number, x: number): number | null {
  const row = tree.rows[depth];
  if (row === undefined) return null;
  let low = 0;
  let high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (tree.x[row[middle]!]! <= x) low = middle + 1;
    else high = middle;
  }
  for (let i = low - 1; i >= 0; --i) {
    const node = row[i]!;
    if (x < tree.x[node]! + tree.w[node]!) return node;
    if (tree.w[node]! > 0) return null;
  }
  return null;
}
