// SPDX-License-Identifier: Apache-2.0
// Memory over the run: every sample, the floor that is held, spikes, phases, epochs, events, where it
// leads, and the limit.

import { useMemo, useState } from "preact/hooks";
import { AxisChoice, Choice, Points, Toggle, ZoomReset } from "../chart/controls";
import { useGroup } from "../chart/group";
import { isLevel } from "../chart/lanes";
import { judgedLine, memorySpec, type Shown } from "../chart/memory_spec";
import { Plot } from "../chart/plot";
import type { RunPage } from "../data";
import { count, counted, moment, rate, size, span } from "../format";
import { Section } from "../section";

export function MemoryChart({ run }: { run: RunPage }) {
  const { group, axis, domain } = useGroup(run);
  const [kept, setShown] = useState({ raw: true, floor: true, marks: true, fromZero: false });
  const shown = useMemo<Shown>(() => ({ ...kept, forecast: group.forecast }), [kept, group.forecast]);
  const spec = useMemo(() => memorySpec(run, axis, shown, domain), [run, axis, shown, domain]);
  if (spec === null) return null;
  const set = (part: Partial<typeof kept>) => setShown({ ...kept, ...part });
  return (
    <Section id="memory" title="Memory over the run" nav="Memory" hint={hintOf(run)} class="chart">
      <div class="chart-controls">
        <Toggle on={shown.raw} set={(raw) => set({ raw })}>
          <i class="chart-key raw" />
          every sample
          {run.spikes.x.length > 0 && (
            <>
              {" "}
              <i class="chart-key spike" />
              spikes
            </>
          )}
        </Toggle>
        {run.floor.x.length > 0 && (
          <Toggle on={shown.floor} set={(floor) => set({ floor })}>
            <i class="chart-key floor" />
            floor: what is held
          </Toggle>
        )}
        {run.forecast && (
          <Toggle on={shown.forecast} set={(forecast) => group.setForecast(forecast)}>
            <i class="chart-key forecast" />
            forecast, 90 %
          </Toggle>
        )}
        {hasMarks(run) && (
          <Toggle on={shown.marks} set={(marks) => set({ marks })}>
            phases and events
          </Toggle>
        )}
        <span class="push" />
        <ZoomReset group={group} />
        <AxisChoice run={run} group={group} />
        <Choice
          name="Vertical axis"
          now={shown.fromZero ? "zero" : "fit"}
          of={[
            ["fit", "fit"],
            ["zero", "from 0"],
          ]}
          set={(value) => set({ fromZero: value === "zero" })}
        />
      </div>
      <Plot spec={spec} axis={axis} group={group} />
      <Points title="The chart's key points as a table" head={["What", "When", "Memory"]} rows={keyPoints(run)} />
    </Section>
  );
}

function hasMarks(run: RunPage): boolean {
  return run.phases.length + run.marks.length + run.epochs.length > 0;
}

function hintOf(run: RunPage): string {
  const name = `${judgedLine(run)?.name ?? ""} memory`.trim();
  const { taken, shown: drawn, how } = run.samples;
  const samples =
    how === "all"
      ? `${counted(taken, "sample")} of ${name}`
      : `${counted(taken, "sample")} of ${name}, drawn by ${count(drawn)} that keep every lowest and highest value`;
  return `${samples}. Drag to zoom, double-click to undo.`;
}

function keyPoints(run: RunPage): string[][] {
  const { verdict, clock } = run;
  const rows: string[][] = [];
  const all =
    run.phases.length > 0
      ? Math.max(...run.phases.map((phase) => phase.to_mb)) - Math.min(...run.phases.map((phase) => phase.from_mb))
      : 0;
  for (const phase of run.phases) {
    rows.push([
      isLevel(run, phase, all) ? "level" : rate(clock, phase.rate_mb_per_step),
      span(clock, phase.from_step, phase.to_step),
      `${size(phase.from_mb)} → ${size(phase.to_mb)}`,
    ]);
  }
  if (verdict.settled !== null) rows.push(["settled", moment(clock, verdict.settled.step), size(verdict.settled.mb)]);
  if (run.spikes.x.length > 0)
    rows.push([
      counted(run.spikes.x.length, "spike"),
      span(clock, run.spikes.x[0]!, run.spikes.x[run.spikes.x.length - 1]!),
      `up to ${size(Math.max(...run.spikes.mb))}`,
    ]);
  const fan = run.forecast;
  const end = (fan?.x.length ?? 0) - 1;
  if (fan !== null && end >= 0) {
    rows.push([
      "forecast, 90 %",
      moment(clock, fan.x[end]!),
      `${size(fan.low_mb[end]!)} to ${size(fan.high_mb[end]!)}`,
    ]);
    for (const path of fan.paths)
      rows.push([path.words, moment(clock, path.x[path.x.length - 1]!), size(path.mb[path.mb.length - 1]!)]);
  }
  if (run.limit_mb !== null) rows.push(["limit", "", size(run.limit_mb)]);
  return rows;
}
