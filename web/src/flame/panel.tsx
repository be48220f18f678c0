// SPDX-License-Identifier: Apache-2.0
// One heap: the table of its sites, and the flame graph with its switches, its search, and the whole
// stack of the chosen frame.

import { useMemo, useState } from "preact/hooks";
import type { HeapPage } from "../data";
import { shareOf } from "./amounts";
import type { ColourBy } from "./colour";
import { frameName, frameWords, Picture } from "./picture";
import { usePlace } from "./place";
import { findFrames } from "./search";
import { Sites } from "./sites";
import { Switch } from "./switch";
import { frameTree, pathTo, type Width } from "./tree";

// Less than a hundredth of what is alive is not worth a picture of its own.
function grew(heap: HeapPage): boolean {
  const gained = heap.stacks.reduce((sum, stack) => sum + Math.max(0, stack.growth_mb), 0);
  return gained > 0.01 * heap.to_mb;
}

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

export function HeapPanel({ heap }: { heap: HeapPage }) {
  const [width, setWidth] = useState<Width>(grew(heap) ? "growth" : "live");
  const [colour, setColour] = useState<ColourBy>("growth");
  const [upward, setUpward] = useState(false);
  const [query, setQuery] = useState("");
  const [site, setSite] = useState<number | null>(null);
  const tree = useMemo(() => frameTree(heap, width), [heap, width]);
  const [{ zooms, selected }, setPlace] = usePlace(tree, heap.frames);
  const matches = useMemo(() => findFrames(tree, heap.frames, query), [tree, heap, query]);
  const zoom = zooms[zooms.length - 1] ?? 0;
  const whole = width === "growth" ? "all that grew" : "the whole heap";

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
            <Switch label="Width" value={width} choices={[["growth", "growth"], ["live", "alive"]]} onChange={setWidth} />
            <Switch label="Colour" value={colour} choices={[["growth", "growth"], ["kind", "language"]]} onChange={setColour} />
            <Switch label="Outermost" value={upward ? "bottom" : "top"} choices={[["top", "top"], ["bottom", "bottom"]]} onChange={(at) => setUpward(at === "bottom")} />
            <label class="flame-search">
              <span class="visually-hidden">Search frames</span>
              <input type="search" placeholder="Search frames" value={query} onInput={(event) => setQuery(event.currentTarget.value)} />
            </label>
            <output class="flame-found">{matches === null ? "" : matches.nodes === 0 ? "no frame matches" : `${shareOf(matches.share)} of ${width === "growth" ? "the growth" : "the heap"}`}</output>
            {zoom === 0 ? null : (
              <button type="button" class="flame-reset" onClick={() => setPlace({ zooms: [0], selected })}>
                Show all
              </button>
            )}
          </div>
          {tree.total > 0 ? (
            <Picture {...{ tree, whole, width, zoom, upward, colour, matches, selected, onZoom, onOut }} names={heap.frames} onSelect={select} />
          ) : (
            <p class="muted">{width === "growth" ? "Nothing grew: switch the width to what is alive." : "Nothing is alive."}</p>
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
            </div>
          )}
        </div>
      )}
    </>
  );
}
