// SPDX-License-Identifier: Apache-2.0
// A chart of parts, stacked or as lines: kinds of page, or processes.

import { size } from "../format";
import { type Axis, nearest } from "./axis";
import type { ChartSpec, Reading, TipRow } from "./canvas";
import type { Span } from "./group";
import { extent, type Layer, line } from "./layers";
import { edges, type Part, partAt, stack, wholePeak } from "./stack";

const LEAST_SPAN = 0.05;

export interface PartsChart {
  label: string;
  parts: Part[]; // Those that are shown; the first is the lowest.
  stacked: boolean;
  whole: string; // What the sum is called.
  height?: number;
  domain: Span;
}

export function partsSpec(xs: ArrayLike<number>, axis: Axis, chart: PartsChart): ChartSpec {
  const { parts, stacked } = chart;
  const tops = stacked ? edges(xs.length, parts) : [];
  const layers: Layer[] = stacked
    ? [stack(xs, tops, parts)]
    : parts.map((part) => line(xs, part.values, { colour: part.tone.ink, width: 1.6 }));
  return {
    label: chart.label,
    domain: chart.domain,
    range: (from, to) => (stacked ? [0, wholePeak(xs, tops, from, to) * 1.05 || 1] : lineHeights(xs, parts, from, to)),
    layers,
    ticks: "mb",
    height: chart.height ?? 230,
    lanes: 0,
    head: 8,
    stops: xs,
    read: (at, height) => reading(xs, axis, chart, tops, at, height),
  };
}

function lineHeights(xs: ArrayLike<number>, parts: Part[], from: number, to: number): Span {
  let [low, high] = [Infinity, -Infinity];
  for (const part of parts) {
    const span = extent(xs, part.values, from, to);
    if (span === null) continue;
    low = Math.min(low, span[0]);
    high = Math.max(high, span[1]);
  }
  if (low > high) return [0, 1];
  const room = Math.max(high - low, LEAST_SPAN * high, 0.01) * 0.06;
  return [Math.max(0, low - room), high + room];
}

function reading(
  xs: ArrayLike<number>,
  axis: Axis,
  chart: PartsChart,
  tops: Float64Array[],
  at: number,
  height: number,
): Reading {
  const index = nearest(xs, at);
  const here = xs[index] ?? at;
  const { parts, stacked } = chart;
  const pointed = stacked ? partAt(tops, index, height) : nearestLine(parts, index, height);
  const rows: TipRow[] = [];
  if (stacked && parts.length > 1) rows.push({ name: chart.whole, value: size(tops[tops.length - 1]?.[index] ?? 0) });
  // As they stand in the picture: the highest first.
  for (let k = parts.length - 1; k >= 0; --k) {
    const part = parts[k]!;
    const value = part.values[index];
    if (value === null || value === undefined) continue;
    rows.push({
      name: part.name,
      value: size(value),
      colour: part.tone.ink(),
      strong: k === pointed,
      ...(stacked ? {} : { y: value }),
    });
  }
  return { at: here, title: axis.describe(here), rows };
}

function nearestLine(parts: Part[], index: number, height: number): number {
  let best = -1;
  let least = Infinity;
  parts.forEach((part, k) => {
    const value = part.values[index];
    if (value === null || value === undefined || Math.abs(value - height) >= least) return;
    least = Math.abs(value - height);
    best = k;
  });
  return best;
}
