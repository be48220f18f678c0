// SPDX-License-Identifier: Apache-2.0
// What a chart is drawn from, one layer over the other: lines, bands, dots, rules, words.
//
// uPlot has the axes, the scales, the cursor and the drag; what is between the axes is drawn here,
// because a forecast, a floor and a stack each have moments of their own. A line of 100,000 points is
// drawn by columns of pixels: in each column its first, lowest, highest and last point, which is the
// same picture and keeps every extreme.

import { lastNotAbove } from "./axis";
import { ink } from "./palette";

// What is on the screen, in pixels of the canvas.
export interface View {
  ctx: CanvasRenderingContext2D;
  from: number; // The stretch that is seen, on the axis.
  to: number;
  left: number;
  top: number;
  width: number;
  height: number;
  px: number; // Pixels of the canvas per CSS pixel.
  x(at: number): number;
  y(value: number): number;
}

export interface Layer {
  outside?: boolean; // May draw beyond the axes.
  paint(view: View): void;
}

export type Values = ArrayLike<number | null>;
export type Colour = () => string;

// Indices of the points in view, and one more at either side, so that lines reach the edges.
export function inView(xs: ArrayLike<number>, from: number, to: number): [number, number] {
  let first = Math.max(0, lastNotAbove(xs, from));
  while (first > 0 && xs[first - 1] === xs[first]) --first;
  return [first, Math.min(xs.length - 1, lastNotAbove(xs, to) + 1)];
}

// Lowest and highest value in view; null if there is none. Ends beyond the view do not count.
export function extent(xs: ArrayLike<number>, ys: Values, from: number, to: number): [number, number] | null {
  const [first, last] = inView(xs, from, to);
  let low = Infinity;
  let high = -Infinity;
  for (let i = first; i <= last; ++i) {
    const value = ys[i];
    if (value === null || value === undefined || xs[i]! < from || xs[i]! > to) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : null;
}

// The line's path. `gap` ends it where a value is missing; else the line goes on over it.
export function linePath(view: View, xs: ArrayLike<number>, ys: Values): Path2D {
  const path = new Path2D();
  const [first, last] = inView(xs, view.from, view.to);
  const dense = last - first > 2 * view.width;
  let column = Number.NaN;
  let low = 0;
  let high = 0;
  let end = 0;
  let count = 0;
  const flush = () => {
    if (count > 1) {
      if (low !== high) {
        path.lineTo(column, low);
        path.lineTo(column, high);
      }
      path.lineTo(column, end);
    }
    count = 0;
  };
  let drawing = false;
  for (let i = first; i <= last; ++i) {
    const value = ys[i];
    if (value === null || value === undefined) {
      flush();
      drawing = false;
      column = Number.NaN;
      continue;
    }
    const x = view.x(xs[i]!);
    const y = view.y(value);
    const here = dense ? Math.round(x) : x;
    if (drawing && dense && here === column) {
      if (y < low) low = y;
      if (y > high) high = y;
      end = y;
      ++count;
      continue;
    }
    flush();
    if (drawing) path.lineTo(here, y);
    else path.moveTo(here, y);
    drawing = true;
    column = here;
    low = high = end = y;
    count = 1;
  }
  flush();
  return path;
}

export function line(
  xs: ArrayLike<number>,
  ys: Values,
  look: { colour: Colour; width: number; dash?: number[] },
): Layer {
  return {
    paint(view) {
      const { ctx, px } = view;
      ctx.strokeStyle = look.colour();
      ctx.lineWidth = look.width * px;
      ctx.lineJoin = "round";
      ctx.setLineDash((look.dash ?? []).map((length) => length * px));
      ctx.stroke(linePath(view, xs, ys));
      ctx.setLineDash([]);
    },
  };
}

// The area between two lines over the same moments.
export function band(xs: ArrayLike<number>, low: ArrayLike<number>, high: ArrayLike<number>, fill: Colour): Layer {
  return {
    paint(view) {
      const { ctx } = view;
      ctx.beginPath();
      for (let i = 0; i < xs.length; ++i) ctx.lineTo(view.x(xs[i]!), view.y(high[i]!));
      for (let i = xs.length - 1; i >= 0; --i) ctx.lineTo(view.x(xs[i]!), view.y(low[i]!));
      ctx.closePath();
      ctx.fillStyle = fill();
      ctx.fill();
    },
  };
}

// Dots; smaller where there are many of them.
export function dots(xs: ArrayLike<number>, ys: Values, colour: Colour): Layer {
  return {
    paint(view) {
      const [first, last] = inView(xs, view.from, view.to);
      const radius = (last - first > view.width / view.px / 6 ? 1.5 : 2.6) * view.px;
      const { ctx } = view;
      ctx.fillStyle = colour();
      ctx.beginPath();
      for (let i = first; i <= last; ++i) {
        const value = ys[i];
        if (value === null || value === undefined) continue;
        const [x, y] = [view.x(xs[i]!), view.y(value)];
        ctx.moveTo(x + radius, y);
        ctx.arc(x, y, radius, 0, 2 * Math.PI);
      }
      ctx.fill();
    },
  };
}

// Dots only where the samples stand apart, so that a reader sees how few there are.
export function sparseDots(xs: ArrayLike<number>, ys: Values, colour: Colour): Layer {
  const all = dots(xs, ys, colour);
  return {
    paint(view) {
      const [first, last] = inView(xs, view.from, view.to);
      if ((last - first) * 9 * view.px < view.width) all.paint(view);
    },
  };
}

// A straight line from edge to edge, upright or level.
export function rule(
  view: View,
  place: { at: number } | { value: number },
  colour: string,
  width: number,
  dash: number[],
): void {
  const { ctx, px } = view;
  ctx.beginPath();
  if ("at" in place) {
    const x = Math.round(view.x(place.at)) + 0.5;
    ctx.moveTo(x, view.top);
    ctx.lineTo(x, view.top + view.height);
  } else {
    const y = Math.round(view.y(place.value)) + 0.5;
    ctx.moveTo(view.left, y);
    ctx.lineTo(view.left + view.width, y);
  }
  ctx.strokeStyle = colour;
  ctx.lineWidth = width * px;
  ctx.setLineDash(dash.map((length) => length * px));
  ctx.stroke();
  ctx.setLineDash([]);
}

export interface Words {
  x: number; // Pixels of the canvas.
  y: number;
  align?: CanvasTextAlign;
  baseline?: CanvasTextBaseline;
  colour: string;
  size?: number; // CSS pixels.
  bold?: boolean;
  halo?: boolean; // Set off from what is beneath.
}

export function fontOf(view: View, size = 11.5, bold = false): string {
  return `${bold ? "600 " : ""}${size * view.px}px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif`;
}

export function write(view: View, text: string, words: Words): void {
  const { ctx, px } = view;
  ctx.font = fontOf(view, words.size, words.bold);
  ctx.textAlign = words.align ?? "left";
  ctx.textBaseline = words.baseline ?? "middle";
  if (words.halo === true) {
    ctx.strokeStyle = ink("paper");
    ctx.lineWidth = 4 * px;
    ctx.lineJoin = "round";
    ctx.strokeText(text, words.x, words.y);
  }
  ctx.fillStyle = words.colour;
  ctx.fillText(text, words.x, words.y);
}

// The text's width in pixels of the canvas.
export function widthOf(view: View, text: string, size?: number, bold?: boolean): number {
  view.ctx.font = fontOf(view, size, bold);
  return view.ctx.measureText(text).width;
}

// As much of the text as fits, with an ellipsis; "" when not even a few letters do.
export function fitting(view: View, text: string, room: number, size?: number): string {
  if (widthOf(view, text, size) <= room) return text;
  let length = text.length;
  while (length > 3 && widthOf(view, `${text.slice(0, length)}…`, size) > room) --length;
  return length > 3 ? `${text.slice(0, length).trimEnd()}…` : "";
}

// The text in at most two lines; what does not fit even then ends with an ellipsis.
export function wrapped(view: View, text: string, room: number, size?: number): string[] {
  if (widthOf(view, text, size) <= room) return [text];
  const words = text.split(" ");
  let count = words.length - 1;
  while (count > 1 && widthOf(view, words.slice(0, count).join(" "), size) > room) --count;
  return [words.slice(0, count).join(" "), fitting(view, words.slice(count).join(" "), room, size)];
}
