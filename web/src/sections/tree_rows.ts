// SPDX-License-Identifier: Apache-2.0
// The process tree as rows to show: parents before children, what grew most first, and processes of
// one kind folded into one row where there are many.
//
// Sixteen data workers that do the same say nothing sixteen times. Brothers with the same role and
// name are folded from five on; so are all the small helpers that came and went, with what they
// started. The process that the verdict names never is, because it is the answer.

import type { ProcessInfo, RunPage } from "../data";

export interface ProcessRow {
  kind: "process";
  index: number; // Into RunPage.processes.
  depth: number;
  folded: boolean; // Of a group, which says for all of them what they are.
  growing: boolean;
  ended: boolean;
}

export interface GroupRow {
  kind: "group";
  key: string;
  depth: number;
  members: number[];
  open: boolean;
  brief: boolean; // Small helpers that have all ended.
  role: string;
  role_reason: string | null;
  first_mb: number | null;
  last_mb: number | null;
  peak_mb: number | null; // Of the largest one: their peaks need not be at one time.
  growth_mb: number | null;
  share: number | null;
}

export type TreeRow = ProcessRow | GroupRow;

const kFoldFrom = 5;
const kBriefFrom = 3;
const kBriefShare = 0.02; // Of the largest process's peak.

// The process that the verdict is about, as an index; null if it names none.
export function growingProcess(run: RunPage): number | null {
  const named = run.verdict.process;
  if (named === null || run.verdict.verdict === "plateau") return null;
  const at = run.processes.findIndex((process, i) =>
    named.pid !== null ? process.is_pid && process.id === named.pid : named.index === process.id || named.index === i,
  );
  return at < 0 ? null : at;
}

// Gone before the run was: last seen earlier than its last fiftieth.
export function hasEnded(run: RunPage, process: ProcessInfo): boolean {
  const first = run.x[0];
  const last = run.x[run.x.length - 1];
  if (first === undefined || last === undefined || process.last_x === null) return false;
  return process.last_x < last - 0.02 * (last - first);
}

function sumOf(values: (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}

function groupOf(run: RunPage, key: string, depth: number, members: number[], look: { open: boolean; brief: boolean }): GroupRow {
  const all = members.map((index) => run.processes[index]!);
  const peaks = all.map((process) => process.peak_mb).filter((peak) => peak !== null);
  const first = all[0]!;
  return {
    kind: "group",
    key,
    depth,
    members,
    ...look,
    role: first.role ?? first.name,
    role_reason: first.role_reason,
    first_mb: sumOf(all.map((process) => process.first_mb)),
    last_mb: sumOf(all.map((process) => process.last_mb)),
    peak_mb: peaks.length === 0 ? null : Math.max(...peaks),
    growth_mb: sumOf(all.map((process) => process.growth_mb)),
    share: sumOf(all.map((process) => process.share)),
  };
}

function withChildren(index: number, children: Map<number, number[]>): number[] {
  const all = [index];
  for (let i = 0; i < all.length && i < 100_000; ++i) all.push(...(children.get(all[i]!) ?? []));
  return all;
}

// Processes that ended and were small, they and all that they started.
function briefOnes(run: RunPage, children: Map<number, number[]>, growing: number | null): Set<number> {
  const most = Math.max(0, ...run.processes.map((process) => process.peak_mb ?? 0));
  const own = run.processes.map((process, i) => i !== growing && hasEnded(run, process) && (process.peak_mb ?? 0) < kBriefShare * most);
  const brief = new Set<number>();
  run.processes.forEach((_process, index) => {
    if (own[index] && withChildren(index, children).every((one) => own[one])) brief.add(index);
  });
  return brief;
}

// `open` holds the keys of groups that are unfolded.
export function treeRows(run: RunPage, open: ReadonlySet<string>): TreeRow[] {
  const growing = growingProcess(run);
  const children = new Map<number, number[]>(); // -1 for those without a parent.
  run.processes.forEach((process, index) => {
    const parent = process.parent !== null && process.parent !== index && run.processes[process.parent] !== undefined ? process.parent : -1;
    children.set(parent, [...(children.get(parent) ?? []), index]);
  });
  const isBrief = briefOnes(run, children, growing);
  const rows: TreeRow[] = [];
  const seen = new Set<number>(); // A recording may be broken: no process is shown twice.

  const visit = (index: number, depth: number, folded = false): void => {
    if (seen.has(index)) return;
    seen.add(index);
    const process = run.processes[index]!;
    rows.push({ kind: "process", index, depth, folded, growing: index === growing, ended: hasEnded(run, process) });
    visitAll(children.get(index) ?? [], depth + 1, index);
  };
  const visitAll = (everyone: number[], depth: number, parent: number): void => {
    const brief = everyone.filter((index) => isBrief.has(index));
    const all = brief.flatMap((index) => withChildren(index, children));
    const folds = all.length >= kBriefFrom && !isBrief.has(parent); // Within such a group all are shown.
    const list = folds ? everyone.filter((index) => !isBrief.has(index)) : everyone;
    const alike = new Map<string, number[]>();
    for (const index of list) {
      const process = run.processes[index]!;
      // The growing one, and whoever has children of its own, stands alone.
      const key = index === growing || children.has(index) ? `one ${index}` : `${parent} ${process.role ?? ""} ${process.name}`;
      alike.set(key, [...(alike.get(key) ?? []), index]);
    }
    const growthOf = (members: number[]): number => sumOf(members.map((index) => run.processes[index]!.growth_mb)) ?? 0;
    const groups = [...alike].sort((a, b) => Number(b[1].includes(growing ?? -1)) - Number(a[1].includes(growing ?? -1)) || growthOf(b[1]) - growthOf(a[1]));
    for (const [key, members] of groups) {
      if (members.length < kFoldFrom) {
        for (const index of members) visit(index, depth);
        continue;
      }
      rows.push(groupOf(run, key, depth, members, { open: open.has(key), brief: false }));
      for (const index of members) {
        if (open.has(key)) visit(index, depth + 1, true);
        else seen.add(index);
      }
    }
    if (!folds) return;
    const key = `brief ${parent}`;
    rows.push(groupOf(run, key, depth, all, { open: open.has(key), brief: true }));
    for (const index of open.has(key) ? brief : []) visit(index, depth + 1);
    for (const index of all) seen.add(index);
  };
  visitAll(children.get(-1) ?? [], 0, -1);
  run.processes.forEach((_process, index) => visit(index, 0)); // Rings of parents have no root.
  return rows;
}
