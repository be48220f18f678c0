// SPDX-License-Identifier: Apache-2.0
// The call sites that hold or gain most, as a table: the flame graph's words, and its form for
// readers who cannot see it. A row's button shows the site in the picture and its whole stack.

import { useState } from "preact/hooks";
import type { HeapPage, HeapSitePage } from "../data";
import { Num } from "../number";
import { SortHead, type Sorting, sortedPlaces } from "../sortable";
import { change, fromTo } from "./amounts";
import { Sparkline } from "./sparkline";
import { State, toneOf } from "./states";

// What grows, and a few that do not for comparison.
const kMostRows = 8;
const kFewRows = 4;

// "load (ImageFile.py:245) <- main (train.py:41)" -> where it happens, and who called.
function partsOf(title: string): [string, string] {
  const at = title.search(/ (<-|called from) /);
  return at < 0 ? [title, ""] : [title.slice(0, at), title.slice(at + 1)];
}

type Column = "site" | "state" | "alive" | "growth";

function valueOf(site: HeapSitePage, by: Column): number | string {
  if (by === "site") return site.title;
  if (by === "state") return site.state;
  return by === "alive" ? site.to_mb : site.to_mb - site.from_mb;
}

interface SitesProps {
  heap: HeapPage;
  chosen: number | null; // Index into heap.sites.
  onChoose: (site: number) => void;
}

function SiteTitle(props: { site: HeapSitePage; pressed: boolean; onPress: () => void }) {
  const { title, stack } = props.site;
  const [where, callers] = partsOf(title);
  return (
    <>
      {stack === null ? (
        <span class="mono">{where}</span>
      ) : (
        <button type="button" class="plain mono" aria-pressed={props.pressed} title="Show its call stack" onClick={props.onPress}>
          {where}
        </button>
      )}
      {callers === "" ? null : <div class="callers mono" title={callers}>{callers}</div>}
    </>
  );
}

export function Sites({ heap, chosen, onChoose }: SitesProps) {
  const [all, setAll] = useState(false);
  const [sorting, setSorting] = useState<Sorting<Column> | null>(null);
  const telling = heap.sites.filter((site) => toneOf(site.state) !== "calm").length;
  const order = sortedPlaces(heap.sites, sorting, valueOf);
  const shown = all ? order : order.slice(0, Math.min(kMostRows, Math.max(kFewRows, telling)));
  const hidden = heap.sites.length - shown.length;
  if (heap.sites.length === 0) return null;
  return (
    <div class="scroll-x">
      <table class="sites">
        <caption class="visually-hidden">Call sites, those that grow first</caption>
        <thead>
          <tr>
            <SortHead by="site" now={sorting} set={setSorting} words="Sort by call site">Call site</SortHead>
            <SortHead by="state" now={sorting} set={setSorting} words="Sort by state">
              <Num k="profile:sites[].word">State</Num>
            </SortHead>
            <th scope="col"><Num k="profile:sites[].rate_mb_per_step">What it does</Num></th>
            <SortHead by="alive" now={sorting} set={setSorting} words="Sort by memory alive" down class="right">
              <Num k="profile:sites[].from_mb">Alive</Num>
            </SortHead>
            <SortHead by="growth" now={sorting} set={setSorting} words="Sort by growth" down class="right">
              <Num k="profile:sites[].growth_mb">Growth</Num>
            </SortHead>
            <th scope="col">Over the run</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((i) => [i, heap.sites[i]!] as const).map(([i, site]) => (
            <tr key={i} class={chosen === i ? "chosen" : ""}>
              <th scope="row">
                <SiteTitle site={site} pressed={chosen === i} onPress={() => onChoose(i)} />
              </th>
              <td>
                <State state={site.state} />
              </td>
              <td>
                {site.words}
                {site.kinds === "" ? null : <span class="muted"> · {site.kinds}</span>}
              </td>
              <td class="right nowrap">{fromTo(site.from_mb, site.to_mb)}</td>
              <td class="right nowrap">{change(site.to_mb - site.from_mb)}</td>
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
