// SPDX-License-Identifier: Apache-2.0
// Growth by call stack: which lines of code hold the memory that grew. Needs a recording made with
// `plateau run --heap`; one panel per process, chosen above it when there are several.

import { useMemo, useState } from "preact/hooks";
import { groupOf, useZoom } from "../chart/group";
import type { HeapPage, RunPage } from "../data";
import { fromTo } from "../flame/amounts";
import { HeapPanel } from "../flame/panel";
import { heapWithin } from "../flame/stretch";
import { counted, moment, size, span } from "../format";
import { Section } from "../section";

function heapTitle(heap: HeapPage): string {
  return heap.pid === 0 ? heap.process || "all processes" : `${heap.process} (pid ${heap.pid})`;
}

export function FlameGraph({ run }: { run: RunPage }) {
  const heaps = run.heaps.filter((heap) => heap.stacks.length > 0 || heap.sites.length > 0);
  const [chosen, setChosen] = useState(0); // The first is the one that the verdict is about.
  const index = Math.min(chosen, heaps.length - 1);
  const all = heaps[index];
  const zoom = useZoom(run);
  const within = useMemo(
    () => (all === undefined || zoom === null || all.clock !== run.clock ? null : heapWithin(all, zoom[0], zoom[1])),
    [all, zoom, run.clock],
  );
  if (all === undefined) return null;
  const heap = within?.heap ?? all;
  const how = heap.exact ? "every allocation was seen" : `one sample per ${size(heap.interval_bytes / 1e6)}`;
  const hint = "Which calls hold the memory: a frame is as wide as what it and the calls below it gained, hold, held at the peak, or gave back at once. Sites that grow come first. Zoom a chart above to see one stretch of the run alone.";
  return (
    <Section id="flame" title="Growth by call stack" nav="Call stacks" hint={hint}>
      <div class="heap-head">
        {heaps.length < 2 ? null : (
          <label>
            Process{" "}
            <select value={index} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
              {heaps.map((one, i) => (
                <option key={i} value={i}>{`${heapTitle(one)}: ${fromTo(one.from_mb, one.to_mb)}`}</option>
              ))}
            </select>
          </label>
        )}
        <p>
          Heap of <strong>{heapTitle(heap)}</strong>: {fromTo(heap.from_mb, heap.to_mb)} over {span(run.clock, heap.from, heap.to)}
          <span class="muted">
            {" "}
            · {how}
            {heap.allocator === null ? "" : ` · ${heap.allocator}`}
            {heap.others_mb > 0.05 ? ` · ${size(heap.others_mb)} in sites too small to list` : ""}
          </span>
        </p>
      </div>
      {within === null ? null : (
        <p class="heap-within">
          Only what the charts are zoomed to: {span(run.clock, heap.from, heap.to)}. States and sentences are of the whole run
          {within.leftOut === 0 ? "" : `; ${counted(within.leftOut, "smaller stack")} without a course over time ${within.leftOut === 1 ? "is" : "are"} left out`}.{" "}
          <button type="button" onClick={() => groupOf(run).setZoom(null)}>
            The whole run
          </button>
        </p>
      )}
      <HeapPanel key={index} heap={heap} moment={(at) => moment(heap.clock, at)} />
      {heap.notes.map((note) => (
        <p key={note} class="muted">
          Note: {note}
        </p>
      ))}
    </Section>
  );
}
