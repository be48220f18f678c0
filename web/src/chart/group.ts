// SPDX-License-Identifier: Apache-2.0
// What the charts of one run share: the stretch that is zoomed to, the cursor, steps or time.
//
// A group lives as long as the page does and is found by the run's name, so that new data of the
// same run (live) finds the zoom where the reader left it.

import { useEffect, useMemo, useState } from "preact/hooks";
import type { RunPage } from "../data";
import { type Axis, axisOf } from "./axis";

export type Span = readonly [number, number];

export class ChartGroup {
  zoom: Span | null = null; // null: all of it.
  cursor: number | null = null;
  cursorOwner: object | null = null; // The chart that the cursor is in; only that one shows a tip.
  byTime = false;
  forecast = true; // Whether the charts reach as far as the forecast does.
  private readonly watchers = new Set<(what: "zoom" | "cursor" | "axis") => void>();

  watch(watcher: (what: "zoom" | "cursor" | "axis") => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  setZoom(zoom: Span | null): void {
    this.zoom = zoom;
    this.tell("zoom");
  }

  setCursor(at: number | null, owner: object | null): void {
    if (this.cursor === at && this.cursorOwner === owner) return;
    this.cursor = at;
    this.cursorOwner = at === null ? null : owner;
    this.tell("cursor");
  }

  setByTime(byTime: boolean, run: RunPage): void {
    if (byTime === this.byTime) return;
    const [before, after] = [axisOf(run, this.byTime), axisOf(run, byTime)];
    const move = (at: number) => after.place(before.clock(at));
    this.byTime = byTime;
    this.zoom = this.zoom && [move(this.zoom[0]), move(this.zoom[1])];
    this.cursor = null;
    this.tell("axis");
  }

  setForecast(forecast: boolean): void {
    if (forecast === this.forecast) return;
    this.forecast = forecast;
    this.tell("axis");
  }

  private tell(what: "zoom" | "cursor" | "axis"): void {
    for (const watcher of [...this.watchers]) watcher(what);
  }
}

const groups = new Map<string, ChartGroup>();

export function groupOf(run: RunPage): ChartGroup {
  const key = `${run.source}\n${run.title ?? ""}`;
  let group = groups.get(key);
  if (group === undefined) {
    group = new ChartGroup();
    groups.set(key, group);
  }
  return group;
}

// What the charts are zoomed to, on the run's clock; null: all of it.
export function useZoom(run: RunPage): Span | null {
  const { group, axis } = useGroup(run);
  const [, again] = useState(0);
  useEffect(() => group.watch((what) => what === "zoom" && again((n) => n + 1)), [group]);
  return useMemo(() => group.zoom && [axis.clock(group.zoom[0]), axis.clock(group.zoom[1])], [group.zoom, axis]);
}

// The stretch that all charts of a run show when nothing is zoomed: the samples, and the forecast if it
// is shown. One for all, so that a moment stands at one place in each of them, under one cursor.
export function domainOf(run: RunPage, axis: Axis, withForecast: boolean): Span {
  const first = axis.place(run.x[0] ?? 0);
  const ahead = withForecast ? run.forecast?.x.at(-1) : undefined;
  const last = axis.place(Math.max(run.x.at(-1) ?? 1, ahead ?? -Infinity));
  return last > first ? [first, last] : [first - 0.5, first + 0.5];
}

// The run's group, axis and stretch; draws again when the reader changes from steps to time.
export function useGroup(run: RunPage): { group: ChartGroup; axis: Axis; domain: Span } {
  const group = groupOf(run);
  const [, again] = useState(0);
  useEffect(() => group.watch((what) => what === "axis" && again((n) => n + 1)), [group]);
  const axis = useMemo(() => axisOf(run, group.byTime), [run, group.byTime]);
  const domain = useMemo(() => domainOf(run, axis, group.forecast), [run, axis, group.forecast]);
  return { group, axis, domain };
}
