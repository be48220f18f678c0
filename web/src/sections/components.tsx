// SPDX-License-Identifier: Apache-2.0
// Memory by kind of page: what is owned, shared, backed by files, swapped out, on the GPU, each with
// the verdict of its own.

import { useMemo, useState } from "preact/hooks";
import { AxisChoice, Choice, Points, ZoomReset } from "../chart/controls";
import { useGroup } from "../chart/group";
import { type Entry, Legend } from "../chart/legend";
import { seriesTone } from "../chart/palette";
import { partsSpec } from "../chart/parts_spec";
import { Plot } from "../chart/plot";
import type { Part } from "../chart/stack";
import type { ComponentVerdict, RunPage } from "../data";
import { rate, size } from "../format";
import { Num } from "../number";
import { Section } from "../section";
import { WordTag } from "../word";

type Component = Part & { stacked: boolean; verdict: ComponentVerdict | undefined; last: number | null };

export function ComponentsChart({ run }: { run: RunPage }) {
  const { group, axis, domain } = useGroup(run);
  const all = useMemo(() => componentsOf(run), [run]);
  const canStack = all.filter((part) => part.stacked).length > 1;
  const [stacking, setStacking] = useState(true);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const stacked = stacking && canStack;
  const offered = useMemo(() => all.filter((part) => part.stacked || !stacked), [all, stacked]);
  const spec = useMemo(
    () =>
      partsSpec(run.x.map(axis.place), axis, {
        label: `Memory by kind of page: ${offered.map((part) => `${part.name} ${part.last === null ? "" : size(part.last)}`).join(", ")} at the end.`,
        parts: offered.filter((part) => !hidden.has(part.id)),
        stacked,
        whole: "all of these",
        domain,
      }),
    [run, axis, domain, offered, hidden, stacked],
  );
  if (all.length < 2) return null;
  return (
    <Section
      id="components"
      title="By kind of page"
      nav="Kinds"
      hint="What the memory is made of; each kind has a verdict of its own. The kernel can take file-backed pages back without harm."
      class="chart"
    >
      <div class="chart-controls">
        <Legend name="Kinds shown" entries={offered.map(entryOf)} hidden={hidden} set={setHidden} />
        <span class="push" />
        <ZoomReset group={group} />
        <AxisChoice run={run} group={group} />
        {canStack && (
          <Choice
            name="How to draw"
            now={stacking ? "stack" : "lines"}
            of={[
              ["stack", "stacked"],
              ["lines", "lines"],
            ]}
            set={(value) => setStacking(value === "stack")}
          />
        )}
      </div>
      <Plot spec={spec} axis={axis} group={group} />
      <Points
        title="Kinds of page as a table"
        head={[
          "Kind",
          num("measure", "Measure"),
          num("verdict", "Verdict"),
          "First",
          "Last",
          num("rate_mb_per_step", "Growth"),
        ]}
        rows={run.verdict.components.map((each) => [
          each.name,
          each.measure,
          each.verdict,
          size(each.first_mb),
          size(each.last_mb),
          rate(run.clock, each.rate_mb_per_step),
        ])}
      />
    </Section>
  );
}

function num(key: "measure" | "verdict" | "rate_mb_per_step", words: string) {
  return <Num k={`components[].${key}`}>{words}</Num>;
}

function componentsOf(run: RunPage): Component[] {
  return run.lines
    .filter((line) => line.group === "component" && line.mb.some((mb) => mb !== null && mb > 0))
    .map((line, i) => ({
      id: line.name,
      name: line.name,
      tone: seriesTone(i),
      values: line.mb,
      stacked: line.stacked,
      verdict: run.verdict.components.find((each) => each.name === line.name),
      last: lastKnown(line.mb),
    }));
}

function lastKnown(values: (number | null)[]): number | null {
  for (let i = values.length - 1; i >= 0; --i) if (values[i] !== null) return values[i] ?? null;
  return null;
}

function entryOf(part: Component): Entry {
  const { verdict, last } = part;
  return {
    id: part.id,
    name: part.name,
    tone: part.tone,
    note: (
      <>
        {last === null ? "" : size(last)} {verdict && <WordTag word={verdict.verdict} />}
      </>
    ),
    ...(verdict === undefined ? {} : { title: verdict.measure }),
  };
}
