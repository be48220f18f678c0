// SPDX-License-Identifier: Apache-2.0
// The call sites that hold or gain most, as a table: the flame graph's words, and its form for
// readers who cannot see it. A row's button shows the site in the picture and its whole stack.

import { useState } from "preact/hooks";
import type { HeapPage } from "../data";
import { Num } from "../number";
import { fromTo } from "./amounts";
import { Sparkline } from "./sparkline";
import { State, toneOf } from "./states";

const kFirstRows = 8;

interface SitesProps {
  heap: HeapPage;
  chosen: number | null; // Index into heap.sites.
  onChoose: (site: number) => void;
}

export function Sites({ heap, chosen, onChoose }: SitesProps) {
  const [all, setAll] = useState(false);
  const shown = all ? heap.sites : heap.sites.slice(0, kFirstRows);
  const hidden = heap.sites.length - shown.length;
  if (heap.sites.length === 0) return null;
  return (
    <div class="scroll-x">
      <table class="sites">
        <caption class="visually-hidden">Call sites, those that grow first</caption>
        <thead>
          <tr>
            <th scope="col">Call site</th>
            <th scope="col"><Num k="profile:sites[].word">State</Num></th>
            <th scope="col"><Num k="profile:sites[].rate_mb_per_step">What it does</Num></th>
            <th scope="col" class="right"><Num k="profile:sites[].from_mb">Alive</Num></th>
            <th scope="col">Over the run</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((site, i) => (
            <tr key={i} class={chosen === i ? "chosen" : ""}>
              <th scope="row">
                {site.stack === null ? (
                  <span class="mono">{site.title}</span>
                ) : (
                  <button type="button" class="plain mono" aria-pressed={chosen === i} title="Show its call stack" onClick={() => onChoose(i)}>
                    {site.title}
                  </button>
                )}
              </th>
              <td>
                <State state={site.state} />
              </td>
              <td>
                {site.words}
                {site.kinds === "" ? null : <span class="muted"> · {site.kinds}</span>}
              </td>
              <td class="right nowrap">{fromTo(site.from_mb, site.to_mb)}</td>
              <td>
                <Sparkline x={site.x} mb={site.mb} tone={toneOf(site.state)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {hidden > 0 || all ? (
        <button type="button" class="more" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? "Show fewer sites" : `Show ${hidden} more ${hidden === 1 ? "site" : "sites"}`}
        </button>
      ) : null}
    </div>
  );
}
