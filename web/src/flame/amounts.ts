// SPDX-License-Identifier: Apache-2.0
// Two small phrases that the tables of this page share, on top of format.ts.

import { percent, size } from "../format";

// "5.43 → 17.4 GB", "900 MB → 1.20 GB": the unit once if both share it.
export function fromTo(fromMb: number | null, toMb: number | null): string {
  const from = size(fromMb);
  const to = size(toMb);
  const unit = to.split(" ")[1];
  if (unit !== undefined && from.endsWith(` ${unit}`)) return `${from.slice(0, -unit.length - 1)} → ${to}`;
  return `${from} → ${to}`;
}

// "+1.20 GB", "-30.0 MB", and a plain "0" where nothing that could be shown changed.
export function change(mb: number | null | undefined): string {
  if (mb === null || mb === undefined || !Number.isFinite(mb)) return "–";
  if (Math.abs(mb) < 0.0005) return "0";
  return `${mb < 0 ? "−" : "+"}${size(Math.abs(mb))}`;
}

// A part of a whole that was measured, unlike a probability, may be all of it: "100 %".
export function shareOf(part: number): string {
  return part > 0.9995 ? "100 %" : percent(part);
}
