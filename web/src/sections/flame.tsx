// SPDX-License-Identifier: Apache-2.0
// Growth by call stack: which lines of code hold the memory that grew. Needs a recording made with
// `plateau run --heap`; one panel per process, chosen above it when there are several.

import { useState } from "preact/hooks";
import type { HeapPage, RunPage } from "../data";
import { fromTo } from "../flame/amounts";
import { HeapPanel } from "../flame/panel";
import { size, span } from "../format";
import { Section } from "../section";

function heapTitle(heap: HeapPage): string {
  return heap.pid === 0 ? heap.process || "all processes" : `${heap.process} (pid ${heap.pid})`;
}

export function FlameGraph({ run }: { run: RunPage }) {
  const heaps = run.heaps.filter((heap) => heap.stacks.length > 0 || heap.sites.length > 0);
  const [chosen, setChosen] = useState(0); // The first is the one that the verdict is about.
  const index = Math.min(chosen, heaps.length - 1);
  const heap = heaps[index];
  if (heap === undefined) return null;
  const how = heap.exact ? "every allocation was seen" : `one sample per ${size(heap.interval_bytes / 1e6)}`;
  const hint = "Which calls hold the memory: a frame is as wide as what it and the calls below it gained, or hold. Sites that grow come first.";
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
      <HeapPanel key={index} heap={heap} />
      {heap.notes.map((note) => (
        <p key={note} class="muted">
          Note: {note}
        </p>
      ))}
    </Section>
  );
}
