// SPDX-License-Identifier: Apache-2.0
// Labels of the charts' axes, and times to the second for the cursor. Other numbers: format.ts.

import { count } from "../format";

// To the second, for the cursor: "1:02:05 h", "4:07 min", "12 s".
export function clockTime(seconds: number): string {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds < 60) return `${seconds < 10 ? Number(seconds.toFixed(1)) : seconds.toFixed(0)} s`;
  const whole = Math.round(seconds);
  const two = (n: number) => String(n).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  if (hours === 0) return `${minutes}:${two(whole % 60)} min`;
  return `${hours}:${two(minutes)}:${two(whole % 60)} h`;
}

// The labels of an axis of amounts: one unit for all of it, as many decimals as its ticks need.
export function amountLabels(ticks: number[]): string[] {
  const peak = Math.max(...ticks.map(Math.abs));
  const [unit, name] = peak >= 1e6 ? [1e6, "TB"] : peak >= 1e3 ? [1e3, "GB"] : peak >= 1 ? [1, "MB"] : [1e-3, "kB"];
  const digits = decimals(ticks, unit);
  return ticks.map((tick) => `${(tick / unit).toFixed(digits)} ${name}`);
}

function decimals(ticks: number[], unit: number): number {
  const apart = (ticks.length > 1 ? ticks[1]! - ticks[0]! : (ticks[0] ?? 1)) / unit;
  let digits = 0;
  for (let scaled = apart; digits < 3 && Math.abs(scaled - Math.round(scaled)) > 1e-6; ++digits) scaled *= 10;
  return digits;
}

// Distances between ticks of an axis of time that read well: 15 s, 5 min, 6 h, 2 days.
export const TIME_STEPS: readonly number[] = [
  0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800,
  432000, 864000, 2592000,
];

export function timeLabels(ticks: number[]): string[] {
  const apart = ticks.length > 1 ? ticks[1]! - ticks[0]! : 1;
  // "225 min" is hard to place: hours and minutes, then.
  const late = (ticks[ticks.length - 1] ?? 0) >= 7200;
  if (late && apart < 1800)
    return ticks.map((tick) => (apart >= 60 ? clockTime(tick).replace(/:00 h$/, " h") : clockTime(tick)));
  const [unit, name] =
    apart >= 86400 ? [86400, "days"] : apart >= 1800 ? [3600, "h"] : apart >= 60 ? [60, "min"] : [1, "s"];
  return ticks.map((tick) => `${Number((tick / unit).toFixed(2))} ${name}`);
}

// Distances between ticks of an axis of steps: 1, 2, 5, 10, ...
export const COUNT_STEPS: readonly number[] = Array.from(
  { length: 45 },
  (_, i) => [1, 2, 5][i % 3]! * 10 ** (Math.floor(i / 3) - 3),
);

export function countLabel(tick: number): string {
  return Number.isInteger(tick) ? count(tick) : String(Number(tick.toPrecision(6)));
}
