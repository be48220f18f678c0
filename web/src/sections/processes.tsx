// SPDX-License-Identifier: Apache-2.0
// Memory by process: what each one owns, stacked, with the role it has.

import { useMemo, useState } from "preact/hooks";
import { AxisChoice, Choice, Points, ZoomReset } from "../chart/controls";
import { useGroup } from "../chart/group";
import { type Entry, Legend } from "../chart/legend";
import { partsSpec } from "../chart/parts_spec";
import { Plot } from "../chart/plot";
import { type ProcessPart, processParts } from "../chart/process_parts";
import type { RunPage } from "../data";
import { count, percent, signedSize, size } from "../format";
import { Num } from "../number";
import { Section } from "../section";

export function ProcessesChart({ run }: { run: RunPage }) {
  const { group, axis, domain } = useGroup(run);
  const all = useMemo(() => processParts(run), [run]);
  const [stacked, setStacked] = useState(true);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const spec = useMemo(
    () =>
      partsSpec(run.x.map(axis.place), axis, {
        label: `Memory by process: ${all
          .slice(0, 4)
          .map((part) => `${part.name} up to ${size(part.peak)}`)
          .join(", ")}.`,
        parts: all.filter((part) => !hidden.has(part.id)),
        stacked,
        whole: "all shown",
        height: 250,
        domain,
      }),
    [run, axis, domain, all, hidden, stacked],
  );
  if (all.length < 2) return null;
  return (
    <Section id="processes" title="By process" nav="Processes" hint={hintOf(run, all)} class="chart">
      <div class="chart-controls">
        <Legend name="Processes shown" entries={all.map(entryOf)} hidden={hidden} set={setHidden} />
        <span class="push" />
        <ZoomReset group={group} />
        <AxisChoice run={run} group={group} />
        <Choice
          name="How to draw"
          now={stacked ? "stack" : "lines"}
          of={[
            ["stack", "stacked"],
            ["lines", "lines"],
          ]}
          set={(value) => setStacked(value === "stack")}
        />
      </div>
      <Plot spec={spec} axis={axis} group={group} />
      <Points
        title="Processes as a table"
        head={[
          "Process",
          "Name",
          "Peak",
          "First",
          "Last",
          <Num k="processes[].growth_mb">Growth</Num>,
          <Num k="processes[].share">Share of growth</Num>,
        ]}
        rows={all.map(rowOf)}
      />
    </Section>
  );
}

function hintOf(run: RunPage, parts: ProcessPart[]): string {
  const rest = parts.find((part) => part.id === "others");
  const shown =
    rest === undefined ? "" : ` The ${parts.length - 1} largest are named, ${rest.count === 1 ? "the other one is left apart" : `the other ${rest.count} are summed`}.`;
  return `What each of the ${count(run.processes.length || parts.length)} processes owns: its peak, and how much it grew.${shown}`;
}

function entryOf(part: ProcessPart): Entry {
  const { info } = part;
  const growth = info?.growth_mb ?? null;
  return {
    id: part.id,
    name: part.name,
    tone: part.tone,
    note: growth !== null && Math.abs(growth) >= 1 ? `${size(part.peak)}, ${signedSize(growth)}` : size(part.peak),
    title:
      info === null
        ? `up to ${size(part.peak)}`
        : `${info.name}${info.is_pid ? `, pid ${info.id}` : ""}, up to ${size(part.peak)}${info.role_reason === null ? "" : ` (${info.role_reason})`}`,
  };
}

function rowOf(part: ProcessPart): string[] {
  const { info } = part;
  const name = info === null ? "" : `${info.name}${info.is_pid ? ` (pid ${info.id})` : ""}`;
  return [
    part.name,
    name,
    size(part.peak),
    size(info?.first_mb),
    size(info?.last_mb),
    signedSize(info?.growth_mb),
    percent(info?.share),
  ];
}
