// SPDX-License-Identifier: Apache-2.0
// The judged memory of all runs over one another, on the clock that they are compared by. Thin is
// what was measured, thick the floor. Beneath the lines lies the stretch in which levels are compared,
// and at its end a bracket says how far the sides are apart there.

import { useMemo } from "preact/hooks";
import { type Axis, between, lastNotAbove } from "../chart/axis";
import type { ChartSpec, TipRow } from "../chart/canvas";
import { ZoomReset } from "../chart/controls";
import { ChartGroup } from "../chart/group";
import { extent, type Layer, line, rule, type View, widthOf, write } from "../chart/layers";
import { faded, ink, seriesTone } from "../chart/palette";
import { Plot } from "../chart/plot";
import type { ChangePage, Clock, PageData, RunPage } from "../data";
import { change as changed } from "../flame/amounts";
import { moment, size } from "../format";
import { Section } from "../section";

interface Trace {
  name: string; // "A", or "A1" where a side has several runs.
  side: number;
  x: number[]; // On the common clock.
  mb: (number | null)[];
  floor: { x: number[]; mb: number[] };
}

// Where a run's moments stand on the common clock; null if it does not know that clock.
function placesOf(run: RunPage, clock: Clock): (number | null)[] | null {
  if (run.clock === clock) return run.x;
  if (clock === "second") return run.time_s;
  return clock === "sample" ? run.x.map((_at, i) => i) : null;
}

export function traceOf(run: RunPage, clock: Clock, name: string, side: number): Trace | null {
  const judged = run.lines.find((one) => one.judged) ?? run.lines[0];
  const places = placesOf(run, clock);
  if (judged === undefined || places === null) return null;
  const x: number[] = [];
  const mb: (number | null)[] = [];
  places.forEach((at, i) => {
    if (at === null || at < (x[x.length - 1] ?? -Infinity)) return;
    x.push(at);
    mb.push(judged.mb[i] ?? null);
  });
  const floor = run.clock === clock ? run.floor : { x: [], mb: [] };
  return x.length === 0 ? null : { name, side, x, mb, floor };
}

function tracesOf(data: PageData, clock: Clock): Trace[] {
  return data.comparison!.sides.flatMap((side, index) =>
    side.runs.flatMap((at, i) => {
      const run = data.runs[at];
      const trace = run === undefined ? null : traceOf(run, clock, side.runs.length > 1 ? `${side.name}${i + 1}` : side.name, index);
      return trace === null ? [] : [trace];
    }),
  );
}

function valueAt(trace: Trace, at: number): number | null {
  const index = lastNotAbove(trace.x, at);
  if (index < 0 || at > trace.x[trace.x.length - 1]! + 1e-9) return null;
  return trace.mb[index] ?? null;
}

// Mean over the side's runs of the floor, or of what was measured where there is none.
function sideAt(traces: Trace[], side: number, at: number): number | null {
  const values = traces
    .filter((trace) => trace.side === side)
    .map((trace) => between(trace.floor.x, trace.floor.mb, at) ?? valueAt(trace, at))
    .filter((value) => value !== null);
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

// The stretch in which levels are compared.
function stretch(change: ChangePage): Layer {
  return {
    paint(view) {
      const left = view.x(change.level_from);
      view.ctx.fillStyle = faded(ink("raw"), 0.12);
      view.ctx.fillRect(left, view.top, view.x(change.to) - left, view.height);
      rule(view, { at: change.level_from }, ink("muted"), 1, [3, 3]);
      rule(view, { at: change.to }, ink("muted"), 1, [3, 3]);
      const text = "levels compared here";
      const middle = (Math.max(view.left, left) + Math.min(view.left + view.width, view.x(change.to))) / 2;
      if (view.x(change.to) - left < widthOf(view, text) + 12 * view.px) return;
      write(view, text, { x: middle, y: view.top + view.height - 10 * view.px, align: "center", colour: ink("muted"), halo: true });
    },
  };
}

// How far apart the sides are at the end of the common span; one bracket beside the other.
function brackets(traces: Trace[], changes: ChangePage[], names: string[]): Layer {
  return {
    paint(view) {
      const written: number[] = []; // Heights at which words stand.
      changes.forEach((change, i) => bracket(view, traces, change, names, { inset: (26 + 14 * i) * view.px, written }));
    },
  };
}

// `inset`: at least so far from the edge, clear of the names at the lines' ends.
function bracket(view: View, traces: Trace[], change: ChangePage, names: string[], place: { inset: number; written: number[] }): void {
  const from = sideAt(traces, 0, change.to);
  const to = sideAt(traces, change.side, change.to);
  if (from === null || to === null || change.to < view.from || change.to > view.to) return;
  const { ctx, px } = view;
  const x = Math.min(view.x(change.to), view.left + view.width - place.inset);
  const [top, bottom] = [view.y(Math.max(from, to)), view.y(Math.min(from, to))];
  if (bottom - top < 22 * px) return;
  ctx.strokeStyle = ink("ink");
  ctx.lineWidth = 1.5 * px;
  ctx.beginPath();
  for (const [y, way] of [[top, 1], [bottom, -1]] as const) {
    ctx.moveTo(x - 4 * px, y + way * 7 * px);
    ctx.lineTo(x, y + way * 2 * px);
    ctx.lineTo(x + 4 * px, y + way * 7 * px);
  }
  ctx.moveTo(x, top + 2 * px);
  ctx.lineTo(x, bottom - 2 * px);
  ctx.stroke();
  const text = `${names[change.side]} is ${size(Math.abs(to - from))} ${to < from ? "lower" : "higher"}`;
  const before = x - widthOf(view, text, 12, true) - 24 * px > view.left;
  let y = (top + bottom) / 2;
  while (place.written.some((other) => Math.abs(other - y) < 15 * px)) y += 15 * px;
  place.written.push(y);
  write(view, text, { x: x + (before ? -9 : 9) * px, y, align: before ? "right" : "left", colour: ink("ink"), size: 12, bold: true, halo: true });
}

// Each line's name where it ends; names that would meet are moved apart.
function endNames(traces: Trace[]): Layer {
  return {
    paint(view) {
      let last = -Infinity;
      const ends = traces.map((trace) => {
        const index = Math.max(0, lastNotAbove(trace.x, view.to));
        return { trace, x: view.x(trace.x[index]!), y: view.y(trace.mb[index] ?? 0) };
      });
      for (const end of ends.sort((a, b) => a.y - b.y)) {
        const y = Math.max(end.y - 9 * view.px, last + 13 * view.px, view.top + 8 * view.px);
        last = y;
        const x = Math.min(end.x - 2 * view.px, view.left + view.width - 4 * view.px);
        write(view, end.trace.name, { x, y, align: "right", colour: seriesTone(end.trace.side).ink(), size: 13, bold: true, halo: true });
      }
    },
  };
}

function specOf(traces: Trace[], changes: ChangePage[], names: string[], axis: Axis): ChartSpec {
  const common = changes.find((change) => change.to > change.from);
  const first = Math.min(...traces.map((trace) => trace.x[0]!));
  const last = Math.max(...traces.map((trace) => trace.x[trace.x.length - 1]!));
  const lines = traces.flatMap((trace) => {
    const bare = trace.floor.x.length < 2;
    const raw = line(trace.x, trace.mb, { colour: () => faded(seriesTone(trace.side).ink(), bare ? 1 : 0.45), width: bare ? 2 : 1 });
    return bare ? [raw] : [raw, line(trace.floor.x, trace.floor.mb, { colour: () => seriesTone(trace.side).ink(), width: 2.4 })];
  });
  return {
    label: `Memory of ${traces.length} runs over one another.`,
    domain: [first, last > first ? last : first + 1],
    range(from, to) {
      const known = traces.map((trace) => extent(trace.x, trace.mb, from, to)).filter((span) => span !== null);
      const low = Math.min(...known.map((span) => span[0]), Infinity);
      const high = Math.max(...known.map((span) => span[1]), 0);
      if (!(low < Infinity)) return [0, 1];
      const room = Math.max((high - low) * 0.08, high * 0.01, 1e-6);
      return [low < 0.5 * high ? 0 : Math.max(0, low - room), high + room];
    },
    layers: [...(common === undefined ? [] : [stretch(common)]), ...lines, brackets(traces, changes, names), endNames(traces)],
    ticks: "mb",
    height: 300,
    lanes: 0,
    head: 14,
    stops: [...new Set(traces.flatMap((trace) => trace.x))].sort((a, b) => a - b),
    read(at) {
      const rows: TipRow[] = traces.map((trace) => {
        const value = valueAt(trace, at);
        return { name: trace.name, value: size(value), colour: seriesTone(trace.side).css, ...(value === null ? {} : { y: value }) };
      });
      const base = sideAt(traces, 0, at);
      for (const { side } of changes) {
        const other = sideAt(traces, side, at);
        if (base !== null && other !== null) rows.push({ name: `${names[side]} − ${names[0]}`, value: changed(other - base), strong: true });
      }
      return { at, title: axis.describe(at), rows };
    },
  };
}

export function ComparisonChart({ data }: { data: PageData }) {
  const group = useMemo(() => new ChartGroup(), []);
  const { changes } = data.comparison!;
  const clock = changes[0]?.clock ?? data.runs[0]!.clock;
  const axis = useMemo<Axis>(() => {
    const seconds = clock === "second";
    return { seconds, name: seconds ? "time" : clock, place: (x) => x, clock: (at) => at, describe: (at) => moment(clock, at) };
  }, [clock]);
  const traces = useMemo(() => tracesOf(data, clock), [data, clock]);
  const spec = useMemo(() => {
    if (traces.length === 0) return null;
    return specOf(traces, changes.filter((change) => change.clock === clock), data.comparison!.sides.map((side) => side.name), axis);
  }, [data, traces, clock, axis]);
  if (spec === null) return null;
  return (
    <Section id="overlay" title="The runs over one another" nav="Overlay" hint="Thin: measured. Thick: what is held, spikes taken off. Drag to zoom, double-click to see all.">
      <div class="no-print">
        <ZoomReset group={group} />
      </div>
      <Plot spec={spec} axis={axis} group={group} />
    </Section>
  );
}
