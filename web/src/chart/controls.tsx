// SPDX-License-Identifier: Apache-2.0
// The switches above a chart, and the table of its key points beneath.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { RunPage } from "../data";
import { hasBoth } from "./axis";
import type { ChartGroup } from "./group";

export function Toggle(props: { on: boolean; set(on: boolean): void; children: ComponentChildren }) {
  return (
    <label class="chart-toggle">
      <input type="checkbox" checked={props.on} onChange={(event) => props.set(event.currentTarget.checked)} />
      {props.children}
    </label>
  );
}

// One of a few; the words say what the chart then shows.
export function Choice<T extends string>(props: {
  name: string;
  now: T;
  of: readonly (readonly [T, string])[];
  set(value: T): void;
}) {
  return (
    <span class="chart-choice" role="group" aria-label={props.name}>
      {props.of.map(([value, words]) => (
        <button key={value} type="button" aria-pressed={value === props.now} onClick={() => props.set(value)}>
          {words}
        </button>
      ))}
    </span>
  );
}

// Steps or time, where both are known.
export function AxisChoice({ run, group }: { run: RunPage; group: ChartGroup }) {
  if (!hasBoth(run)) return null;
  const clock = run.clock === "step" ? "by step" : "by sample";
  return (
    <Choice
      name="Horizontal axis"
      now={group.byTime ? "time" : "clock"}
      of={[
        ["clock", clock],
        ["time", "by time"],
      ]}
      set={(value) => group.setByTime(value === "time", run)}
    />
  );
}

// Only there when there is something to reset.
export function ZoomReset({ group }: { group: ChartGroup }) {
  const [, again] = useState(0);
  useEffect(() => group.watch((what) => what !== "cursor" && again((n) => n + 1)), [group]);
  if (group.zoom === null) return null;
  return (
    <button type="button" class="zoom-reset" onClick={() => group.setZoom(null)}>
      Reset zoom
    </button>
  );
}

// A chart's key points as a table, folded away.
export function Points(props: { title: string; head: ComponentChildren[]; rows: string[][] }) {
  if (props.rows.length === 0) return null;
  return (
    <details class="chart-points">
      <summary>{props.title}</summary>
      <table>
        <thead>
          <tr>
            {props.head.map((text, i) => (
              <th key={i} scope="col">
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.map((row, i) => (
            <tr key={i}>
              {row.map((text, j) =>
                j === 0 ? (
                  <th key={j} scope="row">
                    {text}
                  </th>
                ) : (
                  <td key={j}>{text}</td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
