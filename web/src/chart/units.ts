// SPDX-License-Identifier: Apache-2.0
// Numbers as the terminal writes them: "17.4 GB", "+168 MB/step", "step 1,250", "> 99.9 %".
//
// The rules are those of src/base/units.cc and src/report/phrases.cc, so that a number on the page
// and the same number in a terminal look the same. Sizes are MB of 1,000,000 bytes.

import type { Clock } from "../data";

// Three significant digits: 17.4, 168, 5.43.
function threeDigits(value: number): string {
  const magnitude = Math.abs(value);
  const decimals = magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2;
  return value.toFixed(decimals);
}

export function formatMb(mb: number): string {
  if (!Number.isFinite(mb)) return "?";
  const magnitude = Math.abs(mb);
  if (magnitude >= 999.5e3) return `${threeDigits(mb / 1e6)} TB`;
  if (magnitude >= 999.5) return `${threeDigits(mb / 1e3)} GB`;
  if (magnitude >= 0.9995) return `${threeDigits(mb)} MB`;
  if (magnitude >= 0.9995e-3) return `${threeDigits(mb * 1e3)} kB`;
  return `${(mb * 1e6).toFixed(0)} B`;
}

export function formatMbSigned(mb: number): string {
  return (mb >= 0 ? "+" : "") + formatMb(mb);
}

export function formatCount(value: number): string {
  if (!Number.isFinite(value)) return "?";
  if (Math.abs(value) < 10 && Math.abs(value - Math.round(value)) > 0.05) return value.toFixed(1);
  const digits = String(Math.abs(Math.round(value))).replace(/\B(?=(\d{3})+$)/g, ",");
  return Math.round(value) < 0 ? `-${digits}` : digits;
}

export function formatSeconds(seconds: number): string {
  if (!Number.isFinite(seconds)) return "?";
  if (seconds < 99.5) return `${seconds.toFixed(0)} s`;
  if (seconds < 99.5 * 60) return `${(seconds / 60).toFixed(0)} min`;
  if (seconds < 48 * 3600) return `${(seconds / 3600).toFixed(1)} h`;
  return `${(seconds / 86400).toFixed(1)} days`;
}

// To the second, for the cursor: "1:02:05", "4:07", "12 s".
export function formatClockTime(seconds: number): string {
  if (!Number.isFinite(seconds)) return "?";
  if (seconds < 60) return `${seconds < 10 ? Number(seconds.toFixed(1)) : seconds.toFixed(0)} s`;
  const whole = Math.round(seconds);
  const two = (n: number) => String(n).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  if (hours === 0) return `${minutes}:${two(whole % 60)} min`;
  return `${hours}:${two(minutes)}:${two(whole % 60)} h`;
}

export function formatPercent(share: number): string {
  if (!Number.isFinite(share)) return "? %";
  const percent = 100 * Math.min(1, Math.max(0, share));
  if (percent > 99.94) return "> 99.9 %";
  if (percent >= 98.95) return `${percent.toFixed(1)} %`;
  if (percent < 1 && percent > 0) return "< 1 %";
  return `${percent.toFixed(0)} %`;
}

export function formatMoment(clock: Clock, at: number): string {
  return clock === "second" ? formatSeconds(at) : `${clock} ${formatCount(at)}`;
}

// Seconds are a poor unit for slow growth: 0.02 MB/s is 72 MB/h.
export function formatRate(clock: Clock, mbPerUnit: number): string {
  const magnitude = Math.abs(mbPerUnit);
  if (clock !== "second") return `${formatMbSigned(mbPerUnit)}/${clock}`;
  if (magnitude >= 1) return `${formatMbSigned(mbPerUnit)}/s`;
  if (magnitude * 60 >= 1) return `${formatMbSigned(mbPerUnit * 60)}/min`;
  return `${formatMbSigned(mbPerUnit * 3600)}/h`;
}

// The labels of an axis of amounts: one unit for all of it, as many decimals as its ticks need.
export function amountLabels(ticks: number[]): string[] {
  const peak = Math.max(...ticks.map(Math.abs));
  const [unit, name] = peak >= 1e6 ? [1e6, "TB"] : peak >= 1e3 ? [1e3, "GB"] : peak >= 1 ? [1, "MB"] : [1e-3, "kB"];
  return ticks.map((tick) => `${(tick / unit).toFixed(tickDecimals(ticks, unit))} ${name}`);
}

function tickDecimals(ticks: number[], unit: number): number {
  const apart = ticks.length > 1 ? (ticks[1]! - ticks[0]!) / unit : (ticks[0] ?? 1) / unit;
  let decimals = 0;
  for (let scaled = apart; decimals < 3 && Math.abs(scaled - Math.round(scaled)) > 1e-6; ++decimals) scaled *= 10;
  return decimals;
}

// Distances between ticks of an axis of time that read well: 15 s, 5 min, 6 h, 2 days.
export const TIME_STEPS: readonly number[] = [
  0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
  86400, 172800, 432000, 864000, 2592000,
];

export function timeLabels(ticks: number[]): string[] {
  const apart = ticks.length > 1 ? ticks[1]! - ticks[0]! : 1;
  const [unit, name] = apart >= 86400 ? [86400, "days"] : apart >= 1800 ? [3600, "h"] : apart >= 60 ? [60, "min"] : [1, "s"];
  return ticks.map((tick) => `${Number((tick / unit).toFixed(2))} ${name}`);
}
