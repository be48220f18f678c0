// SPDX-License-Identifier: Apache-2.0
// Parts of a whole, one upon the other.
//
// A part that is missing at a moment (a worker that ended) counts as nothing there and comes back
// when it does. Where moments are denser than pixels, each column shows the moments at which the
// whole is lowest and highest, so no peak of the whole is lost.

import { inView, type Layer, type Values, type View } from "./layers";
import type { Tone } from "./palette";

export interface Part {
  id: string;
  name: string;
  tone: Tone;
  values: Values;
}

// The upper edge of each part, the lowest first.
export function edges(length: number, parts: readonly { values: Values }[]): Float64Array[] {
  const sum = new Float64Array(length);
  return parts.map(({ values }) => {
    for (let i = 0; i < length; ++i) sum[i]! += values[i] ?? 0;
    return sum.slice();
  });
}

// Which part is at that height, by its place; -1 above all of them.
export function partAt(tops: readonly Float64Array[], index: number, height: number): number {
  return tops.findIndex((top) => height <= top[index]!);
}

// Moments worth drawing: all in view, or two per column of pixels.
function picks(view: View, xs: ArrayLike<number>, whole: Float64Array): number[] {
  const [first, last] = inView(xs, view.from, view.to);
  const chosen: number[] = [];
  if (last - first <= 2 * view.width) {
    for (let i = first; i <= last; ++i) chosen.push(i);
    return chosen;
  }
  let column = Number.NaN;
  let [low, high] = [first, first];
  const flush = () => {
    if (Number.isNaN(column)) return;
    chosen.push(Math.min(low, high));
    if (low !== high) chosen.push(Math.max(low, high));
  };
  for (let i = first; i <= last; ++i) {
    const here = Math.round(view.x(xs[i]!));
    if (here !== column) {
      flush();
      column = here;
      low = high = i;
    }
    if (whole[i]! < whole[low]!) low = i;
    if (whole[i]! > whole[high]!) high = i;
  }
  flush();
  return chosen;
}

export function stack(xs: ArrayLike<number>, tops: readonly Float64Array[], parts: readonly Part[]): Layer {
  const whole = tops[tops.length - 1];
  return {
    paint(view) {
      if (whole === undefined) return;
      const moments = picks(view, xs, whole);
      const places = moments.map((i) => view.x(xs[i]!));
      const ground = view.y(0);
      let beneath = moments.map(() => ground);
      parts.forEach((part, k) => {
        const top = tops[k]!;
        const edge = moments.map((i) => view.y(top[i]!));
        fill(view, places, edge, beneath, part.tone.ink());
        beneath = edge;
      });
    },
  };
}

function fill(view: View, places: number[], upper: number[], lower: number[], colour: string): void {
  const { ctx } = view;
  ctx.beginPath();
  for (let i = 0; i < places.length; ++i) ctx.lineTo(places[i]!, upper[i]!);
  for (let i = places.length - 1; i >= 0; --i) ctx.lineTo(places[i]!, lower[i]!);
  ctx.closePath();
  ctx.fillStyle = colour;
  ctx.fill();
}

// Highest value of the whole in view.
export function wholePeak(xs: ArrayLike<number>, tops: readonly Float64Array[], from: number, to: number): number {
  const whole = tops[tops.length - 1];
  let peak = 0;
  if (whole === undefined) return peak;
  const [first, last] = inView(xs, from, to);
  for (let i = first; i <= last; ++i) if (whole[i]! > peak) peak = whole[i]!;
  return peak;
}
