// SPDX-License-Identifier: Apache-2.0
// A heap within a stretch of the run: what each call stack held at its end, gained in it, and held
// when the heap was largest in it.
//
// The document has a course over the run for the sites that matter most, and for the others only what
// they held at the ends of the recording. So within a stretch the others are left out, and counted.

import { between } from "../chart/axis";
import type { HeapPage } from "../data";

export interface HeapWithin {
  heap: HeapPage; // Only stacks whose course is known; from, to and all amounts are the stretch's.
  leftOut: number; // Stacks.
}

// The value at a moment; before the first and after the last one theirs.
function valueAt(x: number[], mb: number[], at: number): number {
  const last = x.length - 1;
  if (at <= x[0]!) return mb[0]!;
  return at >= x[last]! ? mb[last]! : (between(x, mb, at) ?? 0);
}

// The moment from `from` to `to` at which the sites whose course is known held most together.
// All courses have the same moments.
function peakWithin(sites: HeapPage["sites"], from: number, to: number): number {
  const followed = sites.filter((site) => site.x.length >= 2);
  const within = (followed[0]?.x ?? []).filter((x) => x > from && x < to);
  let [best, most] = [from, -1];
  for (const at of [from, ...within, to]) {
    const sum = followed.reduce((all, site) => all + valueAt(site.x, site.mb, at), 0);
    if (sum > most) [best, most] = [at, sum];
  }
  return best;
}

export function heapWithin(heap: HeapPage, from: number, to: number): HeapWithin | null {
  const [first, last] = [Math.max(from, heap.from), Math.min(to, heap.to)];
  if (!(last > first)) return null;
  const stacks: HeapPage["stacks"] = [];
  const peak = peakWithin(heap.sites, first, last);
  let [before, after, most] = [0, 0, 0];
  const sites = heap.sites.map((site) => {
    if (site.x.length < 2) return { ...site, stack: null };
    const [from_mb, to_mb] = [valueAt(site.x, site.mb, first), valueAt(site.x, site.mb, last)];
    const peak_mb = valueAt(site.x, site.mb, peak);
    before += from_mb;
    after += to_mb;
    most += peak_mb;
    const stack = site.stack === null ? undefined : heap.stacks[site.stack];
    if (stack === undefined) return { ...site, from_mb, to_mb, stack: null };
    stacks.push({ ...stack, mb: to_mb, growth_mb: to_mb - from_mb, peak_mb });
    return { ...site, from_mb, to_mb, stack: stacks.length - 1 };
  });
  const within = { ...heap, from: first, to: last, from_mb: before, to_mb: after, peak, peak_mb: most, others_mb: 0, stacks, sites };
  return { heap: within, leftOut: heap.stacks.length - stacks.length };
}
