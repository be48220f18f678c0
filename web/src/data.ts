// SPDX-License-Identifier: Apache-2.0
// What the page is given: one JSON document, written by src/page/ in C++ and explained value by
// value in docs/formats/page-data.md. This file is the contract's other half; nothing here computes.
//
// Sizes are MB of 1,000,000 bytes. "x" is the run's clock: optimizer steps where the log has them,
// else seconds, else sample numbers; RunPage.clock says which. What is unknown is null.
//
// All texts came from logs, processes and paths. They are data: the page shows them as text nodes
// and never as markup.

export type Word = "plateau" | "warming" | "leak" | "undecided";
export type Clock = "step" | "second" | "sample";
export type MarkKind = "eval" | "checkpoint" | "epoch" | "restart" | "oom" | "mark";

export interface PageData {
  schema: 2;
  plateau: string; // Version of the program.
  runs: RunPage[]; // One; two or more in a comparison, the baseline first; or a job and its odd rank.
  comparison: ComparisonPage | null;
}

// `plateau judge --json`, key by key (docs/report-fields.md); what the page uses of it.
export interface Verdict {
  file: string;
  verdict: Word;
  confidence: number | null;
  risk: { oom: number | null; at_step: number | null; limit_mb: number | null };
  component: string | null;
  process: ProcessId | null;
  steps: { first: number | null; last: number | null };
  growth: { rate_mb_per_step: number | null; rate_low: number | null; rate_high: number | null };
  settled: { step: number; mb: number; low_mb: number; high_mb: number } | null;
  epoch_steps: number | null;
  spikes: { count: number; height_mb: number | null };
  causes: { name: string; weight: number; likelihood: string; evidence: string; confirm: string }[];
  decides_at_step: number | null;
  experiment: string | null;
  evidence: string[];
  headline: string;
  run: string | null;
  samples: number;
  clock: Clock;
  first_mb: number | null;
  last_mb: number | null;
  current_rate_mb_per_step: number | null;
  mb_per_example: number | null;
  onset_step: number | null; // Since when it grows; null if it is level.
  total_steps: number | null;
  at_total_steps_mb: number | null;
  forecast: { plateau_mb: number; low_mb: number; high_mb: number; at_step: number | null } | null;
  advice: { cause: string; title: string; fix: string | null }[];
  explanations: Explanation[];
  components: ComponentVerdict[];
  processes: ProcessGrowth[];
  undecided_because: string | null;
  missing: string | null;
  warnings: string[];
  facts?: { evidence: { kind: string }[] }; // Beside `evidence`.
  job?: JobPage | null; // Where several ranks of a job were seen.
}

// A job of many ranks (docs/ranks.md).
export interface JobPage {
  id: string | null;
  world: number | null;
  missing: number[];
  missing_count: number;
  reach: "none" | "one rank" | "one node" | "some" | "all";
  ranks: RankPage[]; // By rank.
  nodes: NodePage[];
}

export interface RankPage {
  rank: number;
  node: string | null;
  verdict: Word;
  confidence: number | null;
  first_mb: number;
  last_mb: number;
  rate_mb_per_step: number;
  lives: number;
  ended_step: number | null;
  odd: boolean;
  saves: boolean; // Grows at checkpoints, which it alone writes.
}

export interface NodePage {
  name: string | null;
  ranks: number;
  verdict: Word;
  confidence: number | null;
  first_mb: number;
  last_mb: number;
  risk: { oom: number | null; at_step: number | null; limit_mb: number | null };
}

export interface ProcessId {
  name: string | null;
  role: string | null;
  pid: number | null;
  index?: number; // Where the log only numbers its processes.
}

export interface ProcessGrowth extends ProcessId {
  first_mb: number;
  last_mb: number;
  growth_mb: number;
  share: number;
}

export interface Explanation {
  name: string;
  words: string;
  bounded: boolean;
  weight: number;
  plateau_mb: number | null;
  ends_at_step: number | null;
  rate_mb_per_step: number;
  for: string[];
  against: string[];
}

export interface ComponentVerdict {
  name: string;
  measure: string;
  verdict: Word;
  confidence: number | null;
  first_mb: number;
  last_mb: number;
  rate_mb_per_step: number;
  reclaimable: boolean;
}

// Plain words, or a figure with its key of docs/report-fields.md; empty if there is nothing to say.
export type Sentence = (string | [text: string, field: string])[];

export interface Paragraph {
  role: "cause" | "other-cause" | "evidence" | "outlook" | "fix" | "known-by" | "missing" | "confirm" | "experiment";
  lead: string; // "Cause:", "Confirm:"; may be empty.
  claim: Sentence; // "per-example cache (decoded data kept), 79 %"
  detail: Sentence; // What follows it.
}

// The sentences of the terminal report, so that the page and the terminal say the same.
export interface Said {
  headline: string; // "no leak · 99.9 %"
  course: { label: string; text: Sentence }; // "Grew", "5.43 -> 17.4 GB over steps 10-83 ..."
  since: string | null; // "level since step 83", "growing since step 12"
  who: Sentence;
  site: string | null; // "grows at load (ImageFile.py:245)"
  why: Paragraph[]; // The likeliest cause first.
  next: Paragraph[]; // What to do, the most useful first.
  undecided: Sentence; // What is tied.
  risk: Sentence;
  peaks: Sentence;
  evidence: Sentence[]; // Beside Verdict.evidence.
  causes: { evidence: Sentence; fix: Sentence }[]; // Beside Verdict.causes.
  explanations: { for: Sentence[]; against: Sentence[] }[]; // Beside Verdict.explanations.
  text: string; // The whole terminal report without colours, 80 columns, with its plot.
}

export interface RunPage {
  source: string; // File name, or "pid 4242".
  title: string | null; // Which run of a file with several.
  format: string; // "plateau recording", "text log", ...
  command: string | null;
  host: string | null;
  started_unix_s: number | null;
  ending: { kind: string; code: number; text: string } | null; // null: unknown, or still running.
  verdict: Verdict;
  said: Said;
  clock: Clock;

  // The samples to draw. `how` is "all", or "extremes": of each stretch every line has its lowest and
  // its highest value, in the order in which they came, at the stretch's first and last x.
  samples: { taken: number; shown: number; how: "all" | "extremes" };
  x: number[]; // Rising; may repeat.
  time_s: (number | null)[] | null; // Seconds since the first sample, beside x; null if not known.
  lines: Line[]; // Each as long as x.
  gauges: { name: string; process: number; value: (number | null)[] }[];

  floor: { x: number[]; mb: number[] }; // What is held of the judged series, spikes taken off.
  spikes: { x: number[]; mb: number[] };
  phases: { from_step: number; to_step: number; from_mb: number; to_mb: number; rate_mb_per_step: number }[];
  marks: { x: number; kind: MarkKind; text: string }[];
  epochs: number[]; // x at which each pass over the data ends, within the run and its forecast.
  forecast: Fan | null; // null when there is nothing to foresee: settled, or too little data.
  limit_mb: number | null;

  processes: ProcessInfo[];
  // What each of Verdict.job.ranks owned, thinned like the samples; null unless there are ranks.
  ranks?: { x: number[]; mb: (number | null)[][] } | null;
  explanations: { name: string; words: string; bounded: boolean }[]; // Columns of replay[].weights.
  replay: Moment[]; // By rising x; the last is the verdict above.
  knew_at: number | null; // x from which the answer no longer changed; null if it is undecided.
  clocks: ClockGrowth[];
  heaps: HeapPage[];
  context: { name: string; value: number | string; unit: string; source: string }[]; // Examples, batch, limit, job ...
  cost: { words: string; cpu_percent: number | null; walk_percent: number | null } | null;
  notes: string[]; // The importer's or the recorder's account of what it could not use.
}

export interface Line {
  group: "component" | "process"; // Of the whole tree, or what one process owns.
  name: string; // "owned", "shmem", ...; or the process's name.
  process: number | null; // Index into RunPage.processes.
  judged: boolean; // The series that the verdict is about.
  stacked: boolean; // Parts of one whole: may be stacked with the others of its group.
  mb: (number | null)[];
}

// Where it leads: 90 % of all explanations, pooled by weight, and the likeliest ones apart.
export interface Fan {
  x: number[];
  low_mb: number[];
  mid_mb: number[];
  high_mb: number[];
  paths: { name: string; words: string; bounded: boolean; weight: number; x: number[]; mb: number[] }[];
}

export interface ProcessInfo {
  id: number;
  is_pid: boolean;
  parent: number | null; // Index into RunPage.processes.
  name: string;
  role: string | null;
  role_reason: string | null;
  first_x: number | null; // When it was seen first and last.
  last_x: number | null;
  first_mb: number | null;
  last_mb: number | null;
  peak_mb: number | null;
  growth_mb: number | null;
  share: number | null; // Of the tree's growth.
}

export interface Moment {
  x: number;
  verdict: Word;
  confidence: number | null;
  forecast_mb: number | null;
  weights: number[]; // Beside RunPage.explanations.
}

// Does growth follow this clock? Growth of the floor between one event and the next.
export interface ClockGrowth {
  clock: "step" | "epoch" | "eval" | "checkpoint";
  events: number;
  mb_per_event: number | null;
  low_mb: number | null; // 90 %
  high_mb: number | null;
  share: number | null; // Of all growth, in stretches that hold such an event.
  share_expected: number | null; // That share if growth did not care.
  follows: boolean; // The clock that explains the growth best, if any does.
  words: string;
}

export type SiteState = "growing" | "filling" | "grown" | "one-off" | "churn" | "spike" | "level" | "undecided";

export interface HeapPage {
  pid: number; // 0: the sum over all processes.
  process: string;
  exact: boolean;
  interval_bytes: number;
  allocator: string | null;
  clock: Clock; // Of its moments, which may not be the run's.
  from: number; // The moments compared, on the clock.
  to: number;
  from_mb: number;
  to_mb: number;
  peak: number; // The moment at which most was alive,
  peak_mb: number; // and how much.
  others_mb: number; // Alive in sites too small to keep.
  frames: string[]; // "load (ImageFile.py:245)"; stacks name them by index.
  stacks: HeapStackPage[];
  sites: HeapSitePage[]; // Growing first.
  tensors: CountPage[];
  types: CountPage[];
  notes: string[];
}

export interface HeapStackPage {
  frames: number[]; // Outermost call first.
  mb: number;
  growth_mb: number;
  peak_mb: number; // Alive at the heap's peak.
  blocks: number; // Allocated, ever,
  temporary: number; // and of these freed within the step or second that they were made in.
}

export interface HeapSitePage {
  title: string;
  kinds: string;
  state: string; // A SiteState, or a word that is not known here yet.
  words: string; // "grows by 0.26 MB per step", "filled until step 150"
  from_mb: number;
  to_mb: number;
  stack: number | null; // Index into stacks.
  x: number[];
  mb: number[];
}

export interface CountPage {
  name: string;
  state: string;
  words: string;
  from: number;
  to: number;
  mb_each: number | null;
}

// `plateau compare --json` and its sentences.
export interface ComparisonPage {
  outcome: "no_worse" | "worse" | "undecided";
  stamp: "BETTER" | "NO WORSE" | "WORSE" | "UNDECIDED";
  said: string; // "the fix removed the growth ..."
  sides: { name: string; runs: number[]; verdict: Word }[]; // runs: indices into PageData.runs.
  changes: ChangePage[];
  text: string; // The whole terminal report.
}

export interface ChangePage {
  side: number;
  headline: string;
  component: string;
  clock: Clock;
  from: number;
  to: number;
  level_from: number;
  figures: FigurePage[];
  warnings: string[];
}

export interface FigurePage {
  name: string; // "rate_mb_per_step", "floor_mb", ...
  title: string; // "growth now", "floor"
  unit: string; // "MB/step", "MB", "s", ""
  before: number | null;
  after: number | null;
  difference: number | null;
  low: number | null; // 99 %
  high: number | null;
  significant: boolean;
}
