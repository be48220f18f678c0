// SPDX-License-Identifier: Apache-2.0
// One heap: the table of its sites, and the flame graph with its switches, its search, and the whole
// stack of the chosen frame.

import { useMemo, useState } from "preact/hooks";
import type { HeapPage } from "../data";
import { size } from "../format";
import { shareOf } from "./amounts";
import type { ColourBy } from "./colour";
import { frameName, frameWords, Picture } from "./picture";
import { usePlace } from "./place";
import { Around } from "./neighbours";
import { findFrames } from "./search";
import { Sites } from "./sites";
import { Switch } from "./switch";
import { frameTree, pathTo, type Width } from "./tree";

// Less than a hundredth of what is alive is not worth a picture of its own.
function grew(heap: HeapPage): boolean {
  const gained = heap.stacks.reduce((sum, stack) => sum + Math.max(0, stack.growth_mb), 0);
  return gained > 0.01 * heap.to_mb;
}

const kWidths: Record<Width, { choice: string; whole: string; of: string; none: string }> = {
  growth: { choice: "growth", whole: "all that grew", of: "the growth", none: "Nothing grew: switch the width to what is alive." },
  live: { choice: "alive", whole: "the whole heap", of: "the heap", none: "Nothing is alive." },
  peak: { choice: "peak", whole: "the heap at its peak", of: "the peak", none: "Nothing was alive." },
  temporary: { choice: "temporary", whole: "all temporary blocks", of: "all temporary blocks", none: "No block was given back at once." },
};

// What the colours of the picture mean.
function Legend({ colour, searching }: { colour: ColourBy; searching: boolean }) {
  const entries = searching ? ["match"] : colour === "kind" ? ["python", "native"] : ["grew", "level", "shrank"];
  const words: Record<string, string> = {
    match: "found",
    python: "Python",
    native: "native code",
    grew: "grew (the stronger, the more of it is new)",
    level: "level",
    shrank: "shrank",
  };
  return (
    <ul class="flame-legend">
      {entries.map((name) => (
        <li key={name}>
          <span class={`swatch ${name}`} />
          {words[name]}
        </li>
      ))}
    </ul>
  );
}

interface HeapPanelProps {
  heap: HeapPage;
  moment: (at: number) => string; // "step 120", "2 min": of the heap's clock.
}

// When the heap was largest, and what of that the picture does not show.
function PeakWords({ heap, moment }: HeapPanelProps) {
  const shown = heap.stacks.reduce((sum, stack) => sum + stack.peak_mb, 0);
  const rest = heap.peak_mb - shown;
  return (
    <p class="muted">
      The most that was alive: {size(heap.peak_mb)}, at {moment(heap.peak)}
      {rest > 0.05 ? `; ${size(rest)} of it in stacks too small to show` : ""}.
    </p>
  );
}

export function HeapPanel({ heap, moment }: HeapPanelProps) {
  const [width, setWidth] = useState<Width>(grew(heap) ? "growth" : "live");
  const temporary = useMemo(() => heap.stacks.some((stack) => stack.temporary >= 1), [heap]);
  const widths = (["growth", "live", "peak", "temporary"] as const).filter((choice) => choice !== "temporary" || temporary);
  const [colour, setColour] = useState<ColourBy>("growth");
  const [upward, setUpward] = useState(false);
  const [query, setQuery] = useState("");
  const [site, setSite] = useState<number | null>(null);
  const tree = useMemo(() => frameTree(heap, width), [heap, width]);
  const [{ zooms, selected }, setPlace] = usePlace(tree, heap.frames);
  const matches = useMemo(() => findFrames(tree, heap.frames, query), [tree, heap, query]);
  const zoom = zooms[zooms.length - 1] ?? 0;
  const whole = kWidths[width].whole;

  const onZoom = (node: number): void => {
    setSite(null);
    if (node === zoom || tree.w[node]! <= 0) return setPlace({ zooms, selected: node });
    const kept = zooms.filter((old) => old < node && node < tree.end[old]!);
    setPlace({ zooms: kept.length === 0 ? [node] : [...kept, node], selected: node });
  };
  const onOut = (): boolean => {
    if (zoom === 0) return false;
    const next = zooms.length > 1 ? zooms.slice(0, -1) : [0];
    setPlace({ zooms: next, selected: next[next.length - 1]! });
    return true;
  };
  const choose = (index: number): void => {
    const stack = heap.sites[index]?.stack ?? null;
    if (stack === null) return;
    const again = site === index;
    setSite(again ? null : index);
    setPlace({ zooms: [0], selected: again ? null : (tree.nodeOfStack[stack] ?? null) });
  };
  const chooseFrame = (frame: number): void => {
    // The widest place of the call; nodes stand widest first.
    let best: number | null = null;
    for (let node = 1; node < tree.count; ++node) {
      if (tree.frame[node] === frame && (best === null || tree.w[node]! > tree.w[best]!)) best = node;
    }
    if (best !== null) select(best);
  };
  const select = (node: number): void => {
    setSite(null);
    setPlace({ zooms, selected: node });
  };

  return (
    <>
      <Sites heap={heap} chosen={site} onChoose={choose} />
      {tree.count < 2 ? null : (
        <div class="flame">
          <div class="flame-bar">
            <Switch label="Width" value={width} choices={widths.map((choice) => [choice, kWidths[choice].choice] as const)} onChange={setWidth} />
            <Switch label="Colour" value={colour} choices={[["growth", "growth"], ["kind", "language"]]} onChange={setColour} />
            <Switch label="Outermost" value={upward ? "bottom" : "top"} choices={[["top", "top"], ["bottom", "bottom"]]} onChange={(at) => setUpward(at === "bottom")} />
            <label class="flame-search">
              <span class="visually-hidden">Search frames</span>
              <input type="search" placeholder="Search frames" value={query} onInput={(event) => setQuery(event.currentTarget.value)} />
            </label>
            <output class="flame-found">{matches === null ? "" : matches.nodes === 0 ? "no frame matches" : `${shareOf(matches.share)} of ${kWidths[width].of}`}</output>
            {zoom === 0 ? null : (
              <button type="button" class="flame-reset" onClick={() => setPlace({ zooms: [0], selected })}>
                Show all
              </button>
            )}
          </div>
          {width === "peak" ? <PeakWords heap={heap} moment={moment} /> : null}
          {width === "temporary" ? (
            <p class="muted">Blocks that were freed within the step or second they were made in: they hold nothing, and cost time.</p>
          ) : null}
          {tree.total > 0 ? (
            <Picture {...{ tree, whole, width, zoom, upward, colour, matches, selected, onZoom, onOut }} names={heap.frames} onSelect={select} />
          ) : (
            <p class="muted">{kWidths[width].none}</p>
          )}
          <Legend colour={colour} searching={matches !== null} />
          {selected === null || selected === 0 ? (
            <p class="muted no-print">Click a frame to zoom in and to see its whole stack; arrow keys, Enter and Escape do the same.</p>
          ) : (
            <div class="flame-stack">
              <h3>{frameName(tree, heap.frames, whole, selected)}</h3>
              <p class="muted">{frameWords(tree, width, selected)}</p>
              <ol aria-label="Call stack, outermost call first">
                {pathTo(tree, selected).map((node) => (
                  <li key={node} class="mono">
                    <button type="button" class="plain" onClick={() => select(node)}>{frameName(tree, heap.frames, whole, node)}</button>
                  </li>
                ))}
              </ol>
              <Around heap={heap} frame={tree.frame[selected]!} width={width} onChoose={chooseFrame} />
            </div>
          )}
        </div>
      )}
    </>
  );
}
