// SPDX-License-Identifier: Apache-2.0
// Draws a frame tree on a canvas, and says what is where on it.
//
// One pass over the nodes in their order. A node narrower than half a pixel is not drawn and its
// whole subtree is jumped over; neighbours that are all too narrow become one dull bar, so that
// what is there but cannot be told apart does not look like nothing. 100,000 frames draw in a few
// milliseconds (bench/flame.mjs), because a picture of 1,200 pixels cannot show more than 2,400 of
// them in a row.

import { type ColourBy, type FrameKind, growthColour, type Palette } from "./colour";
import type { Matches } from "./search";
import { type FrameTree, nodeAt } from "./tree";

export const kRowPx = 20;
const kSkipPx = 0.5;
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

class Painter {
  private readonly letterPx: number;

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly view: View,
    private readonly palette: Palette,
  ) {
    context.font = kFont;
    context.textBaseline = "middle";
    this.letterPx = context.measureText("the quick brown fox jumps").width / 25;
  }

  // Returns how many frames were drawn.
  paint(): number {
    const { view, context } = this;
    context.fillStyle = this.palette.ground;
    context.fillRect(0, 0, view.widthPx, view.rows * kRowPx);
    const { tree, zoom } = view;
    let drawn = 0;
    for (let node = tree.parent[zoom]!; node >= 0; node = tree.parent[node]!, ++drawn) this.frame(node);
    let smallDepth = -1;
    let smallFrom = 0;
    let smallTo = 0;
    const flush = (): void => {
      if (smallDepth >= 0 && smallTo - smallFrom >= kSkipPx) this.bar(smallDepth, smallFrom, smallTo);
      smallDepth = -1;
    };
    for (let node = zoom; node < tree.end[zoom]!; ) {
      const [left, width] = extent(view, node);
      if (width >= kSkipPx) {
        this.frame(node);
        ++drawn;
        ++node;
        continue;
      }
      const depth = tree.depth[node]!;
      if (depth !== smallDepth || left - smallTo > kSkipPx) {
        flush();
        smallDepth = depth;
        smallFrom = left;
      }
      smallTo = left + width;
      node = tree.end[node]!;
    }
    flush();
    this.outline(view.hovered, 1);
    this.outline(view.selected, 2);
    return drawn;
  }

  private bar(depth: number, from: number, to: number): void {
    this.context.fillStyle = this.palette.small;
    this.context.fillRect(from, rowTop(this.view, depth) + 1, to - from, kRowPx - 1);
  }

  private frame(node: number): void {
    const { view, context, palette } = this;
    const [left, width] = extent(view, node);
    const top = rowTop(view, view.tree.depth[node]!);
    const gap = width > 3 ? 1 : 0; // The ground shows as a thin edge between neighbours.
    const fill = fillOf(view, palette, node);
    context.fillStyle = fill;
    context.fillRect(left, top + 1, width - gap, kRowPx - 1);
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
