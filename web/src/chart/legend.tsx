// SPDX-License-Identifier: Apache-2.0
// A legend whose entries are buttons: each shows or hides its part of the chart.

import type { ComponentChildren } from "preact";
import type { Tone } from "./palette";

export interface Entry {
  id: string;
  name: string;
  tone: Tone;
  note?: ComponentChildren; // Beside the name: last value, verdict.
  title?: string;
}

export function Legend(props: {
  entries: Entry[];
  hidden: ReadonlySet<string>;
  set(hidden: ReadonlySet<string>): void;
  name: string;
}) {
  const { hidden } = props;
  const flip = (id: string) => {
    const next = new Set(hidden);
    if (!next.delete(id)) next.add(id);
    props.set(next);
  };
  return (
    <div class="chart-legend" role="group" aria-label={props.name}>
      {props.entries.map((entry) => (
        <button
          key={entry.id}
          type="button"
          aria-pressed={!hidden.has(entry.id)}
          title={entry.title}
          onClick={() => flip(entry.id)}
        >
          <i class="chart-key area" style={{ background: entry.tone.css }} />
          <span class="name">{entry.name}</span>
          {entry.note !== undefined && <span class="note">{entry.note}</span>}
        </button>
      ))}
      {hidden.size > 0 && (
        <button type="button" class="all" onClick={() => props.set(new Set())}>
          show all
        </button>
      )}
    </div>
  );
}
