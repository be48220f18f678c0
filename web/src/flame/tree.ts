// SPDX-License-Identifier: Apache-2.0
// Call stacks as a tree of frames that can be drawn: the model behind the flame graph.
//
// Question: which calls hold the memory, or caused its growth? Stacks that begin alike share frames.
// A frame is as wide as all stacks that pass through it: by what they hold now ("live"), or by what
// they gained ("growth"), held at the peak ("peak"), or by the blocks that they made and gave back at
// once ("temporary"). Stacks that shrank have no width in the latter: a frame with +30 and -10 MB
// below it is 30 wide, and its tooltip says +20. So widths always add up, and nothing is negative.
//
// The nodes stand in one order, each before what it calls and the widest call first; `end` is the
// first node that is no longer below it. So "everything below n" is a span of numbers, in the tree as
// in each row, and whole subtrees can be jumped over.
//
// Example: main>load 3 MB, main>decode 1 MB gives nodes all, main, load, decode with end 4, 4, 3, 4.

import type { HeapPage, HeapStackPage } from "../data";

export type Width = "growth" | "live" | "peak" | "temporary";

// What a stack holds: at the end, or for "peak" when the heap was largest.
function aliveOf(stack: HeapStackPage, width: Width): number {
  return width === "peak" ? stack.peak_mb : stack.mb;
}

export function widthOf(stack: HeapStackPage, width: Width): number {
  if (width === "temporary") return stack.temporary;
  return Math.max(0, width === "growth" ? stack.growth_mb : aliveOf(stack, width));
}

export interface FrameTree {
  count: number; // Of nodes; node 0 is the whole heap.
  frame: Int32Array; // Index into the heap's frames; -1 of node 0.
  parent: Int32Array; // -1 of node 0.
  end: Int32Array;
  depth: Int32Array;
  x: Float64Array; // Left edge and width, as shares of the whole.
  w: Float64Array;
  mb: Float64Array; // Alive at the end or the peak, and its growth until then, of all stacks through the node.
  growth_mb: Float64Array;
  rows: Int32Array[]; // The nodes of each depth, from left to right.
  nodeOfStack: Int32Array; // Where each of the heap's stacks ends.
  total: number; // What the whole width stands for: MB, or temporary blocks.
}

interface Trie {
  count: number;
  frame: number[];
  parent: number[]; // Of a smaller number, always.
  weight: number[];
  mb: number[];
  growth_mb: number[];
  leaf: Int32Array; // Per stack.
}

// Nodes found by parent and frame. Open addressing over whole numbers, because a large heap takes
// more than a million look-ups.
class NodeTable {
  private slots = new Int32Array(1 << 12); // Node + 1; 0 is free.
  private used = 0;

  constructor(private readonly trie: Trie) {}

  // The node, which is made where there is none.
  find(parent: number, frame: number): number {
    const slot = this.slot(parent, frame);
    const found = this.slots[slot]! - 1;
    if (found >= 0) return found;
    const node = this.trie.count++;
    this.trie.frame.push(frame);
    this.trie.parent.push(parent);
    this.trie.weight.push(0);
    this.trie.mb.push(0);
    this.trie.growth_mb.push(0);
    this.slots[slot] = node + 1;
    if (++this.used * 2 > this.slots.length) this.grow();
    return node;
  }

  private slot(parent: number, frame: number): number {
    const { trie, slots } = this;
    const mask = slots.length - 1;
    const mixed = Math.imul(parent ^ (parent >>> 16), 0x45d9f3b) + Math.imul(frame + 1, 0x2545f491);
    for (let at = (mixed ^ (mixed >>> 13)) & mask; ; at = (at + 1) & mask) {
      const node = slots[at]! - 1;
      if (node < 0 || (trie.parent[node] === parent && trie.frame[node] === frame)) return at;
    }
  }

  private grow(): void {
    this.slots = new Int32Array(this.slots.length * 4);
    for (let node = 1; node < this.trie.count; ++node) {
      this.slots[this.slot(this.trie.parent[node]!, this.trie.frame[node]!)] = node + 1;
    }
  }
}

function gather(stacks: HeapPage["stacks"], width: Width): Trie {
  const trie: Trie = { count: 1, frame: [-1], parent: [-1], weight: [0], mb: [0], growth_mb: [0], leaf: new Int32Array(stacks.length) };
  const table = new NodeTable(trie);
  stacks.forEach((stack, index) => {
    let node = 0;
    for (const frame of stack.frames) node = table.find(node, frame);
    trie.leaf[index] = node;
    trie.weight[node]! += widthOf(stack, width);
    const mb = aliveOf(stack, width);
    trie.mb[node]! += mb;
    trie.growth_mb[node]! += stack.growth_mb + mb - stack.mb; // Since the same beginning.
  });
  for (let node = trie.count - 1; node > 0; --node) {
    const parent = trie.parent[node]!;
    trie.weight[parent]! += trie.weight[node]!;
    trie.mb[parent]! += trie.mb[node]!;
    trie.growth_mb[parent]! += trie.growth_mb[node]!;
  }
  return trie;
}

// Every node's children, the widest first: those of node n are list[from[n]] to list[from[n + 1] - 1].
function childrenOf(trie: Trie): { from: Int32Array; list: Int32Array } {
  const from = new Int32Array(trie.count + 1);
  for (let node = 1; node < trie.count; ++node) ++from[trie.parent[node]! + 1]!;
  for (let node = 0; node < trie.count; ++node) from[node + 1]! += from[node]!;
  const list = new Int32Array(trie.count);
  const next = from.slice();
  for (let node = 1; node < trie.count; ++node) list[next[trie.parent[node]!]!++] = node;
  for (let node = 0; node < trie.count; ++node) {
    if (from[node + 1]! - from[node]! < 2) continue;
    list.subarray(from[node]!, from[node + 1]!).sort((a, b) => trie.weight[b]! - trie.weight[a]! || a - b);
  }
  return { from, list };
}

export function frameTree(heap: Pick<HeapPage, "stacks">, width: Width): FrameTree {
  const trie = gather(heap.stacks, width);
  const children = childrenOf(trie);
  const { count } = trie;
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
  const open: { node: number; at: number; next: number; x: number }[] = []; // `next`: into children.list.
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
    open.push({ node, at, next: children.from[node]!, x });
  };
  enter(0, 0);
  while (open.length > 0) {
    const top = open[open.length - 1]!;
    if (top.next === children.from[top.node + 1]!) {
      tree.end[top.at] = placed;
      open.pop();
      continue;
    }
    const child = children.list[top.next++]!;
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
