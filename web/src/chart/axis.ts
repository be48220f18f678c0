// SPDX-License-Identifier: Apache-2.0
// Where a moment of the run's clock stands on the horizontal axis, by steps or by time.
//
// By the clock a moment stands where it is. By time it stands at the seconds of the samples around
// it, in a straight line between them; beyond the last sample (forecasts) the pace of the run's last
// half goes on.

import type { RunPage } from "../data";
import { count, moment } from "../format";
import { clockTime } from "./units";

export interface Axis {
  seconds: boolean; // Ticks are durations.
  name: string; // "step", "time", "sample"
  place(x: number): number;
  clock(at: number): number; // The way back.
  describe(at: number): string; // "step 83 · 0:41:10 h"
}

// Both are known, so there is a choice.
export function hasBoth(run: RunPage): boolean {
  return run.clock !== "second" && knots(run) !== null;
}

export function axisOf(run: RunPage, byTime: boolean): Axis {
  const known = run.clock === "second" ? null : knots(run);
  const both = (x: number, time: number) => `${moment(run.clock, x)} · ${clockTime(time)}`;
  if (known === null) {
    const seconds = run.clock === "second";
    return {
      seconds,
      name: seconds ? "time" : run.clock,
      place: (x) => x,
      clock: (at) => at,
      describe: (at) => (seconds ? clockTime(at) : `${run.clock} ${count(at)}`),
    };
  }
  const [xs, times] = known;
  if (byTime) {
    return {
      seconds: true,
      name: "time",
      place: (x) => follow(xs, times, x),
      clock: (at) => follow(times, xs, at),
      describe: (at) => both(follow(times, xs, at), at),
    };
  }
  return {
    seconds: false,
    name: run.clock,
    place: (x) => x,
    clock: (at) => at,
    describe: (at) => both(at, follow(xs, times, at)),
  };
}

// Samples with both clocks, each rising; null when there are fewer than two.
function knots(run: RunPage): [number[], number[]] | null {
  const times = run.time_s;
  if (times === null) return null;
  const xs: number[] = [];
  const seconds: number[] = [];
  for (let i = 0; i < run.x.length; ++i) {
    const time = times[i];
    if (time === null || time === undefined) continue;
    const last = xs.length - 1;
    if (last >= 0 && (run.x[i]! <= xs[last]! || time <= seconds[last]!)) continue;
    xs.push(run.x[i]!);
    seconds.push(time);
  }
  return xs.length < 2 ? null : [xs, seconds];
}

// Index of the last value not above `at`; -1 if there is none. Requires: rising values.
export function lastNotAbove(values: ArrayLike<number>, at: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// The value nearest to `at`; 0 in an empty list.
export function nearest(values: ArrayLike<number>, at: number): number {
  const before = lastNotAbove(values, at);
  if (before < 0) return 0;
  if (before + 1 >= values.length) return before;
  return at - values[before]! <= values[before + 1]! - at ? before : before + 1;
}

function follow(from: number[], to: number[], at: number): number {
  const last = from.length - 1;
  let left = lastNotAbove(from, at);
  let right = left + 1;
  if (left < 0) [left, right] = [0, 1];
  else if (left >= last) [left, right] = [Math.min(last - 1, last >> 1), last];
  const share = (at - from[left]!) / (from[right]! - from[left]!);
  return to[left]! + share * (to[right]! - to[left]!);
}

// A straight line between the points around `at`; null outside of them.
export function between(xs: ArrayLike<number>, ys: ArrayLike<number>, at: number): number | null {
  const left = lastNotAbove(xs, at);
  if (left < 0 || xs.length === 0) return null;
  if (left === xs.length - 1) return at === xs[left] ? ys[left]! : null;
  const width = xs[left + 1]! - xs[left]!;
  return width > 0 ? ys[left]! + ((at - xs[left]!) / width) * (ys[left + 1]! - ys[left]!) : ys[left]!;
}
