// SPDX-License-Identifier: Apache-2.0
// The two axes that uPlot draws for us: their colours, distances and words.

import type uPlot from "uplot";
import type { Axis } from "./axis";
import type { ChartSpec } from "./canvas";
import { ink } from "./palette";
import { amountLabels, COUNT_STEPS, countLabel, TIME_STEPS, timeLabels } from "./units";

const GUTTER = 66; // Left of all charts, so that they stand one beneath the other.
const TICKS = 26; // Below the plot, for the words of the ticks.

// `now` is asked at every drawing, because a chart is shown one spec after the other.
export function scalesOf(now: () => { spec: ChartSpec; axis: Axis }): uPlot.Axis[] {
  // Whole pixels: uPlot enlarges the size for dense displays by its digits before "px", and would
  // make "11.5px" into "11.10px" at two.
  const font = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
  const grid = { stroke: () => ink("grid"), width: 1 };
  const common = { stroke: () => ink("axis"), font, grid, ticks: { ...grid, size: 4 } };
  return [
    {
      ...common,
      grid: { show: false },
      gap: 3,
      size: () => TICKS + now().spec.lanes,
      space: 74,
      incrs: (_u, _i, from, to) => (now().axis.seconds && to - from > 1 ? [...TIME_STEPS] : [...COUNT_STEPS]),
      values: (_u, ticks) => (now().axis.seconds ? timeLabels(ticks) : ticks.map(countLabel)),
    },
    { ...common, size: GUTTER, space: 34, values: (_u, ticks) => heights(now().spec, ticks) },
  ];
}

function heights(spec: ChartSpec, ticks: number[]): string[] {
  if (spec.ticks === "none") return ticks.map(() => "");
  if (spec.ticks === "percent") return ticks.map((tick) => `${Math.round(tick)} %`);
  return amountLabels(ticks);
}
