// SPDX-License-Identifier: Apache-2.0
// Draws a frame tree on a canvas, and says what is where on it.
//
// Row by row, from left to right. Frames too narrow to be told apart are drawn together, as one bar of
// a few pixels in the colour of their sum, so that the cost follows the picture and not the tree: a row
// of 1,200 pixels takes at most some hundred rectangles, whatever the heap (bench/flame.mjs). What is
// narrower than half a pixel together is left out.

import { type ColourBy, type FrameKind, growthColour, type Palette } from "./colour";
import type { Matches } from "./search";
import { type FrameTree, nodeAt } from "./tree";

export const kRowPx = 20;
const kSkipPx = 0.5;
const kNarrowPx = 1.5; // Drawn together with its neighbours,
const kRunPx = 3; // until the bar is so wide.
const kTextFromPx = 28;
const kFont = '12px system-ui, -apple-system, "Segoe UI", sans-serif';

export interface View {
  tree: FrameTree;
  names: string[];
  kinds: FrameKind[]; // Beside names.
  whole: string; // What node 0 is called.
  zoom: number; // The node that is drawn over the full width.
  upward: boolean; // Outermost call at the bottom.
  colour: ColourBy;
  matches: Matches | null;
  selected: number | null;
  hovered: number | null;
  widthPx: number;
  rows: number; // As visibleRows() says.
}

// So many rows has the picture: outer frames, the zoomed one, and the deepest below it that shows.
export function visibleRows(tree: FrameTree, zoom: number, widthPx: number): number {
  const least = (tree.w[zoom]! * kSkipPx) / Math.max(1, widthPx);
  let deepest = tree.depth[zoom]!;
  for (let node = zoom; node < tree.end[zoom]!; ) {
    if (tree.w[node]! < least) {
      node = tree.end[node]!;
      continue;
    }
    deepest = Math.max(deepest, tree.depth[node]!);
    ++node;
  }
  return deepest + 1;
}

function rowTop(view: View, depth: number): number {
  return (view.upward ? view.rows - 1 - depth : depth) * kRowPx;
}

function isOuter(view: View, node: number): boolean {
  return view.tree.depth[node]! < view.tree.depth[view.zoom]!;
}

// Left edge and width in pixels; outer frames of the zoomed one take the full width.
function extent(view: View, node: number): [number, number] {
  if (isOuter(view, node)) return [0, view.widthPx];
  const { x, w } = view.tree;
  const scale = view.widthPx / (w[view.zoom]! || 1);
  return [(x[node]! - x[view.zoom]!) * scale, w[node]! * scale];
}

function fillOf(view: View, palette: Palette, node: number): string {
  const { tree, matches } = view;
  if (matches !== null) {
    const frame = tree.frame[node]!;
    return frame >= 0 && matches.frames[frame] === 1 ? palette.match : palette.muted;
  }
  if (isOuter(view, node) || node === 0) return palette.muted;
  if (view.colour === "kind") return palette[view.kinds[tree.frame[node]!] ?? "native"];
  return growthColour(palette, tree.mb[node]!, tree.growth_mb[node]!);
}

function labelOf(view: View, node: number, letters: number): string {
  const frame = view.tree.frame[node]!;
  const name = frame < 0 ? view.whole : (view.names[frame] ?? "?");
  if (name.length <= letters) return name;
  const place = name.search(/ [([]/);
  const short = place > 0 ? name.slice(0, place) : name;
  return short.length <= letters ? short : `${short.slice(0, Math.max(1, letters - 1))}…`;
}

// Neighbours that are drawn as one bar.
interface Run {
  from: number; // Pixels.
  to: number;
  mb: number;
  growth_mb: number;
  widest: number;
  matched: number | null; // A node that the search found.
}

function firstNotBelow(row: Int32Array, node: number): number {
  let low = 0;
  let high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row[middle]! < node) low = middle + 1;
    else high = middle;
  }
  return low;
}

class Painter {
  private readonly letterPx: number;
  private drawn = 0;

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly view: View,
    private readonly palette: Palette,
  ) {
    context.font = kFont;
    context.textBaseline = "middle";
    this.letterPx = context.measureText("the quick brown fox jumps").width / 25;
  }

  // Returns how many rectangles were drawn.
  paint(): number {
    const { view, context } = this;
    context.fillStyle = this.palette.ground;
    context.fillRect(0, 0, view.widthPx, view.rows * kRowPx);
    const { tree, zoom } = view;
    for (let node = tree.parent[zoom]!; node >= 0; node = tree.parent[node]!) this.frame(node);
    for (let depth = tree.depth[zoom]!; depth < view.rows; ++depth) this.row(depth);
    this.outline(view.hovered, 1);
    this.outline(view.selected, 2);
    return this.drawn;
  }

  private row(depth: number): void {
    const { tree, zoom } = this.view;
    const row = tree.rows[depth]!;
    let run: Run | null = null;
    for (let i = firstNotBelow(row, zoom); i < row.length && row[i]! < tree.end[zoom]!; ++i) {
      const node = row[i]!;
      const [left, width] = extent(this.view, node);
      const narrow = width < kNarrowPx;
      if (run !== null && (!narrow || left - run.to > kSkipPx || run.to - run.from >= kRunPx)) {
        this.bar(depth, run);
        run = null;
      }
      if (!narrow) {
        this.frame(node);
        continue;
      }
      run ??= { from: left, to: left, mb: 0, growth_mb: 0, widest: node, matched: null };
      run.to = left + width;
      run.mb += tree.mb[node]!;
      run.growth_mb += tree.growth_mb[node]!;
      if (tree.w[node]! > tree.w[run.widest]!) run.widest = node;
      if (this.view.matches?.frames[tree.frame[node]!] === 1) run.matched = node;
    }
    if (run !== null) this.bar(depth, run);
  }

  // Several narrow frames as one.
  private bar(depth: number, run: Run): void {
    if (run.to - run.from < kSkipPx) return;
    const { view, palette, context } = this;
    const summed = view.matches === null && view.colour === "growth";
    context.fillStyle = summed ? growthColour(palette, run.mb, run.growth_mb) : fillOf(view, palette, run.matched ?? run.widest);
    context.fillRect(run.from, rowTop(view, depth) + 1, run.to - run.from, kRowPx - 1);
    ++this.drawn;
  }

  private frame(node: number): void {
    const { view, context, palette } = this;
    const [left, width] = extent(view, node);
    const top = rowTop(view, view.tree.depth[node]!);
    const gap = width > 3 ? 1 : 0; // The ground shows as a thin edge between neighbours.
    const fill = fillOf(view, palette, node);
    context.fillStyle = fill;
    context.fillRect(left, top + 1, width - gap, kRowPx - 1);
    ++this.drawn;
    if (width < kTextFromPx) return;
    const letters = Math.floor((width - 10) / this.letterPx);
    if (letters < 3) return;
    context.fillStyle = fill === palette.muted ? palette.mutedText : palette.text;
    context.fillText(labelOf(view, node, letters), left + 5, top + kRowPx / 2 + 1, width - 8);
  }

  private outline(node: number | null, linePx: number): void {
    if (node === null) return;
    const [left, width] = extent(this.view, node);
    if (left + width < 0 || left > this.view.widthPx) return;
    const top = rowTop(this.view, this.view.tree.depth[node]!);
    this.context.strokeStyle = this.palette.focus;
    this.context.lineWidth = linePx;
    const inset = linePx / 2;
    this.context.strokeRect(left + inset, top + 1 + inset, Math.max(1, width - 2 * inset), kRowPx - 1 - 2 * inset);
  }
}

export function draw(context: CanvasRenderingContext2D, view: View, palette: Palette): number {
  return new Painter(context, view, palette).paint();
}

// The node under a point of the picture, in CSS pixels.
export function hit(view: View, xPx: number, yPx: number): number | null {
  const row = Math.floor(yPx / kRowPx);
  const depth = view.upward ? view.rows - 1 - row : row;
  if (depth < 0 || depth >= view.rows) return null;
  const { tree, zoom } = view;
  if (depth < tree.depth[zoom]!) {
    let node = zoom;
    while (node > 0 && tree.depth[node]! > depth) node = tree.parent[node]!;
    return node;
  }
  return nodeAt(tree, depth, tree.x[zoom]! + (xPx / Math.max(1, view.widthPx)) * tree.w[zoom]!);
}

// Top of a node's row, for tooltips and for scrolling it into view.
export function topOf(view: View, node: number): number {
  return rowTop(view, view.tree.depth[node]!);
}
