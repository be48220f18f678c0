// SPDX-License-Identifier: Apache-2.0
// The words between `plateau serve` and the page (docs/serve.md):
//
//   GET /api/runs            RunList
//   GET /api/page?run=ID     PageData
//   GET /api/compare?run=A,B PageData of two runs side by side, the first being the baseline
//   GET /api/verdict?run=ID  the JSON of `plateau judge --json`
//   GET /events?run=ID       server-sent events: `state` with a LiveState whenever something changed
//
// A page that is served has <meta name="plateau-live" content="1"> instead of data.

import type { Word } from "./data";

export interface RunList {
  runs: RunSummary[];
}

export interface RunSummary {
  id: string; // Opaque; for the queries above.
  name: string;
  live: boolean; // Somebody still writes it.
  word: Word | null; // null: cannot be read, and `trouble` says why; or was not read yet.
  confidence: number | null;
  headline: string;
  last_mb: number | null;
  last_x: number | null;
  clock: string | null;
  changed_unix_s: number;
  trouble: string | null;
  course: { x: number[]; mb: number[] }; // A few points of what is judged.
}

export interface LiveState extends Omit<RunSummary, "course"> {
  version: number; // Rises with every change; the page fetches what it has not got.
}
