// SPDX-License-Identifier: Apache-2.0
// Python objects and tensors by type: what there is more of at the end than at the start. Needs a
// recording made with `plateau run --heap`, which counts them now and then.

import { useState } from "preact/hooks";
import type { CountPage, HeapPage, RunPage } from "../data";
import { change } from "../flame/amounts";
import { State, toneOf } from "../flame/states";
import { count, size } from "../format";
import { Num } from "../number";
import { Section } from "../section";

const kFirstRows = 8;

// What grows stands first, by how much memory it took; then by how many came.
function byGrowth(rows: CountPage[]): CountPage[] {
  const gained = (row: CountPage): number => (row.to - row.from) * (row.mb_each ?? 0);
  const calm = (row: CountPage): number => (toneOf(row.state) === "calm" ? 1 : 0);
  return [...rows].sort((a, b) => calm(a) - calm(b) || gained(b) - gained(a) || b.to - b.from - (a.to - a.from));
}

function Counts(props: { title: string; what: string; rows: CountPage[] }) {
  const [all, setAll] = useState(false);
  if (props.rows.length === 0) return null;
  const sorted = byGrowth(props.rows);
  const shown = all ? sorted : sorted.slice(0, kFirstRows);
  const hidden = sorted.length - shown.length;
  const most = Math.max(1, ...sorted.map((row) => Math.abs(row.to - row.from)));
  return (
    <div class="counts">
      <h3>{props.title}</h3>
      <div class="scroll-x">
        <table>
          <thead>
            <tr>
              <th scope="col">{props.what}</th>
              <th scope="col"><Num k="profile:sites[].word">State</Num></th>
              <th scope="col" class="right"><Num k="types[].from">Number</Num></th>
              <th scope="col" class="right">More</th>
              <th scope="col"><span class="visually-hidden">Share of what came</span></th>
              <th scope="col" class="right"><Num k="profile:tensors[]">Each</Num></th>
              <th scope="col" class="right">Together</th>
              <th scope="col">What it does</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <tr key={row.name}>
                <th scope="row" class="mono">{row.name}</th>
                <td><State state={row.state} /></td>
                <td class="right nowrap">{count(row.from)} → {count(row.to)}</td>
                <td class="right nowrap">{row.to > row.from ? "+" : ""}{count(row.to - row.from)}</td>
                <td class="bar-cell">
                  <span class={`growth-bar ${toneOf(row.state)}`} style={{ width: `${(100 * Math.abs(row.to - row.from)) / most}%` }} />
                </td>
                <td class="right nowrap">{size(row.mb_each)}</td>
                <td class="right nowrap">{row.mb_each === null ? "–" : change((row.to - row.from) * row.mb_each)}</td>
                <td>{row.words}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {hidden > 0 || all ? (
        <button type="button" class="more" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? "Show fewer" : `Show ${hidden} more`}
        </button>
      ) : null}
    </div>
  );
}

function title(heap: HeapPage, what: string, several: boolean): string {
  return several ? `${what} of ${heap.process}${heap.pid === 0 ? "" : ` (pid ${heap.pid})`}` : what;
}

// The sum over all processes says nothing new where only one of them counts its objects.
function isRepeated(heap: HeapPage, before: HeapPage[]): boolean {
  const counts = (one: HeapPage): string => JSON.stringify([one.tensors, one.types]);
  return before.some((one) => counts(one) === counts(heap));
}

export function Objects({ run }: { run: RunPage }) {
  const counted = run.heaps.filter((heap) => heap.types.length > 0 || heap.tensors.length > 0);
  const heaps = counted.filter((heap, i) => !isRepeated(heap, counted.slice(0, i)));
  if (heaps.length === 0) return null;
  const several = heaps.length > 1;
  return (
    <Section id="objects" title="Objects and tensors by type" nav="Objects" hint="What there is more of at the end than at the start. What is still growing comes first.">
      {heaps.map((heap) => (
        <div key={heap.pid}>
          <Counts title={title(heap, "Tensors", several)} what="Shape and kind" rows={heap.tensors} />
          <Counts title={title(heap, "Python objects", several)} what="Type" rows={heap.types} />
        </div>
      ))}
    </Section>
  );
}
