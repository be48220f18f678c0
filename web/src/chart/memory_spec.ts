// SPDX-License-Identifier: Apache-2.0
// The memory chart, put together: which layers, which heights, what the cursor reads.
//
// Heights follow the terminal's plot: by default they fit what is seen, but span at least 5 % of the
// level, so that noise of a thousandth does not fill the picture; a limit is drawn in if it is not
// much higher than the rest, and named at the edge if it is.

import type { Line, RunPage } from "../data";
import { moment, rate, size } from "../format";
import { type Axis, between, lastNotAbove, nearest } from "./axis";
import type { ChartSpec, Reading, TipRow } from "./canvas";
import { type Forecast, forecastOf } from "./forecast";
import type { Span } from "./group";
import { epochEnds, eventLanes, gravePlaces, hasRuler, isLevel, LANE, laneKinds, phaseRuler, RULER } from "./lanes";
import { dots, extent, type Layer, line, rule, sparseDots, type View, write } from "./layers";
import { ink } from "./palette";

export interface Shown {
  raw: boolean;
  floor: boolean;
  forecast: boolean;
  marks: boolean;
  fromZero: boolean;
}

const LEAST_SPAN = 0.05;
const LIMIT_REACH = 0.5;
const BAND_REACH = 0.6; // A band may rise above everything else by this share of the height.

interface Parts {
  run: RunPage;
  axis: Axis;
  shown: Shown;
  judged: Line;
  xs: ArrayLike<number>;
  floorXs: number[];
  spikeXs: number[];
  forecast: Forecast | null;
}

export function judgedLine(run: RunPage): Line | undefined {
  return run.lines.find((each) => each.judged) ?? run.lines[0];
}

export function memorySpec(run: RunPage, axis: Axis, shown: Shown, domain: Span): ChartSpec | null {
  const judged = judgedLine(run);
  if (judged === undefined || run.x.length === 0) return null;
  const xs = run.x.map(axis.place);
  const parts: Parts = {
    run,
    axis,
    shown,
    judged,
    xs,
    floorXs: run.floor.x.map(axis.place),
    spikeXs: run.spikes.x.map(axis.place),
    forecast: run.forecast && shown.forecast ? forecastOf(run.forecast, axis) : null,
  };
  const kinds = shown.marks ? laneKinds(run).length : 0;
  const lanes = kinds * LANE + (shown.marks && hasRuler(run) ? RULER + 4 : 0);
  return {
    label: label(run, judged),
    domain,
    range: (from, to) => heights(parts, from, to),
    layers: layersOf(parts),
    ticks: "mb",
    height: 268 + lanes,
    lanes,
    head: 20,
    stops: parts.forecast === null ? xs : [...xs, ...parts.forecast.xs.slice(1)],
    read: (at) => reading(parts, at),
  };
}

function label(run: RunPage, judged: Line): string {
  const { first_mb: first, last_mb: last, steps } = run.verdict;
  const course =
    first === null || last === null
      ? ""
      : `, from ${size(first)} at ${moment(run.clock, steps.first)} to ${size(last)} at ${moment(run.clock, steps.last)}`;
  return `Memory over the run (${judged.name})${course}${run.said.since === null ? "" : `, ${run.said.since}`}.`;
}

function heights(parts: Parts, from: number, to: number): Span {
  const { run, shown, forecast } = parts;
  let [low, high] = [Infinity, -Infinity];
  const take = (span: readonly (number | null)[] | null) => {
    for (const value of span ?? []) {
      if (value === null) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  };
  const edges = (xs: ArrayLike<number>, ys: ArrayLike<number>) => take([between(xs, ys, from), between(xs, ys, to)]);
  if (shown.raw) {
    const [start, end] = worked(parts);
    take(extent(parts.xs, parts.judged.mb, Math.max(from, start), Math.min(to, end)));
    take(extent(parts.spikeXs, run.spikes.mb, from, to));
  }
  take(extent(parts.floorXs, run.floor.mb, from, to));
  edges(parts.floorXs, run.floor.mb);
  if (forecast !== null) {
    for (const { path, xs } of forecast.paths) {
      take(extent(xs, path.mb, from, to));
      edges(xs, path.mb);
    }
    edges(forecast.xs, forecast.fan.mid_mb);
    const most = high + BAND_REACH * (high - low);
    const top = extent(forecast.xs, forecast.fan.high_mb, from, to);
    if (top !== null) take([Math.min(most, top[1])]);
  }
  if (low > high) [low, high] = [0, 1];
  const [bottom, top] = rounded(low, high, run.limit_mb, shown.fromZero);
  // Room for the names at the ends of the forecast.
  return [bottom, forecast === null ? top : top + 0.05 * (top - bottom)];
}

// The stretch that was judged. Start-up and the end of a job reach down to nothing and would leave
// the rest of the picture flat; "from 0" shows them.
function worked({ floorXs, xs }: Parts): Span {
  const [first, last] = [floorXs[0], floorXs[floorXs.length - 1]];
  if (first === undefined || last === undefined || last <= first) return [-Infinity, Infinity];
  const hair = (last - first) * 1e-9;
  return [first > xs[0]! ? first - hair : first + hair, last - hair];
}

function rounded(low: number, high: number, limit: number | null, fromZero: boolean): Span {
  const least = Math.max(LEAST_SPAN * Math.abs(high), 0.01);
  if (high - low < least) {
    low = Math.max(0, (high + low) / 2 - least / 2);
    high = low + least;
  }
  const span = high - low;
  if (limit !== null && limit >= low && limit <= high + LIMIT_REACH * span) high = Math.max(high, limit);
  const below = Math.max(0, low - 0.04 * span);
  return [fromZero ? 0 : below, high + 0.06 * (high - (fromZero ? 0 : low))];
}

function layersOf(parts: Parts): Layer[] {
  const { run, axis, shown, judged } = parts;
  const layers: Layer[] = [];
  if (shown.marks) layers.push(epochEnds(run, axis), gravePlaces(run, axis), eventLanes(run, axis));
  if (shown.marks && hasRuler(run)) layers.push(phaseRuler(run, axis));
  layers.push({ outside: true, paint: (view) => limitLine(view, run.limit_mb) });
  if (parts.forecast !== null) layers.push(...parts.forecast.layers(run.limit_mb));
  if (shown.raw) layers.push(line(parts.xs, judged.mb, { colour: () => ink("raw"), width: 1.2 }));
  if (shown.floor) layers.push(line(parts.floorXs, run.floor.mb, { colour: () => ink("floor"), width: 2.4 }));
  if (shown.raw) layers.push(sparseDots(parts.xs, judged.mb, () => (shown.floor ? ink("floor") : ink("raw"))));
  // Last, so that the dots of the samples do not hide them.
  if (shown.raw) layers.push(dots(parts.spikeXs, run.spikes.mb, () => ink("spike")));
  layers.push({ paint: (view) => settledPoint(view, parts) });
  return layers;
}

function limitLine(view: View, limit: number | null): void {
  if (limit === null) return;
  const y = view.y(limit);
  const colour = ink("limit");
  const x = view.left + 8 * view.px;
  if (y > view.top + view.height) return;
  if (y < view.top) {
    write(view, `↑ limit ${size(limit)}`, { x: view.left, y: view.top - 8 * view.px, colour, size: 11 });
    return;
  }
  rule(view, { value: limit }, colour, 1.5, []);
  const above = y - view.top > 18 * view.px;
  write(view, `limit ${size(limit)}`, {
    x,
    y: y + (above ? -8 : 9) * view.px,
    colour,
    size: 11,
    bold: true,
    halo: true,
  });
}

function settledPoint(view: View, parts: Parts): void {
  const { settled } = parts.run.verdict;
  if (settled === null) return;
  const at = parts.axis.place(settled.step);
  if (at < view.from || at > view.to) return;
  // Floors are some way apart: amid a jump the line between them is not where the level is.
  const floor = between(parts.floorXs, parts.run.floor.mb, at);
  const mb = floor !== null && floor >= settled.low_mb && floor <= settled.high_mb ? floor : settled.mb;
  const { ctx, px } = view;
  const [x, y] = [view.x(at), view.y(mb)];
  ctx.beginPath();
  ctx.arc(x, y, 5 * px, 0, 2 * Math.PI);
  ctx.fillStyle = ink("paper");
  ctx.fill();
  ctx.strokeStyle = ink("plateau");
  ctx.lineWidth = 2.4 * px;
  ctx.stroke();
  const right = x < view.left + 0.7 * view.width;
  const below = y < view.top + 0.75 * view.height;
  write(view, parts.run.said.since ?? `level since ${moment(parts.run.clock, settled.step)}`, {
    x: x + (right ? 8 : -8) * px,
    y: y + (below ? 16 : -16) * px,
    align: right ? "left" : "right",
    colour: ink("plateau"),
    size: 12,
    bold: true,
    halo: true,
  });
}

function reading(parts: Parts, at: number): Reading {
  const { run, axis, shown, judged, xs } = parts;
  const last = xs[xs.length - 1] ?? 0;
  const ahead = parts.forecast !== null && at > last;
  const index = nearest(xs, at);
  const here = ahead ? at : xs[index]!;
  const rows: TipRow[] = [];
  if (!ahead) {
    const mb = judged.mb[index] ?? null;
    if (mb !== null) rows.push({ name: judged.name, value: size(mb), colour: ink("raw"), y: mb, strong: true });
    const floor = between(parts.floorXs, run.floor.mb, here);
    if (floor !== null && shown.floor) rows.push({ name: "floor", value: size(floor), colour: ink("floor"), y: floor });
  } else if (parts.forecast !== null) {
    rows.push(...parts.forecast.rows(at));
  }
  rows.push(...around(parts, here));
  return { at: here, title: axis.describe(here) + (ahead ? ", forecast" : ""), rows };
}

// The phase that the moment is in, and the events at it.
function around(parts: Parts, here: number): TipRow[] {
  const { run, axis } = parts;
  const at = axis.clock(here);
  const rows: TipRow[] = [];
  const phase = run.phases.find((each) => each.from_step <= at && at <= each.to_step);
  if (phase !== undefined) {
    const span = Math.max(...run.floor.mb) - Math.min(...run.floor.mb);
    rows.push({ name: "growth", value: isLevel(run, phase, span) ? "level" : rate(run.clock, phase.rate_mb_per_step) });
  }
  const near = (run.x[run.x.length - 1]! - run.x[0]!) / 250;
  for (const mark of run.marks.filter((each) => Math.abs(each.x - at) <= near).slice(0, 3)) {
    rows.push({ name: mark.kind, value: mark.text === "" ? moment(run.clock, mark.x) : mark.text });
  }
  const passes = lastNotAbove(run.epochs, at) + 1;
  if (run.epochs.length > 0) rows.push({ name: "epoch", value: String(passes + 1) });
  return rows;
}
