// SPDX-License-Identifier: Apache-2.0
// Who is who: the processes of the job as a tree, what each holds, and whose growth it is.

import { useMemo, useState } from "preact/hooks";
import type { RunPage } from "../data";
import { change, fromTo, shareOf } from "../flame/amounts";
import { moment, size, span } from "../format";
import { Num } from "../number";
import { Section } from "../section";
import { type GroupRow, growingProcess, type ProcessRow, type TreeRow, treeRows } from "./tree_rows";

function indentOf(row: TreeRow): { paddingLeft: string } {
  return { paddingLeft: `${Math.min(row.depth, 12) * 22}px` };
}

function Growth(props: { growth_mb: number | null; share: number | null; growing: boolean; most: number }) {
  const wide = props.growth_mb === null ? 0 : (100 * Math.abs(props.growth_mb)) / props.most;
  const tone = props.growing ? "bad" : (props.growth_mb ?? 0) < 0 ? "shrank" : "plain";
  return (
    <>
      <td class="right nowrap">{change(props.growth_mb)}</td>
      <td class="bar-cell">
        <span class={`growth-bar ${tone}`} style={{ width: `${wide}%` }} />
      </td>
      <td class="right nowrap">{(props.share ?? 0) <= 0 || (props.growth_mb ?? 0) <= 0 ? "" : shareOf(props.share ?? 0)}</td>
    </>
  );
}

function seenWords(run: RunPage, row: ProcessRow): string {
  const process = run.processes[row.index]!;
  if (row.ended) return `ended at ${moment(run.clock, process.last_x)}`;
  const first = run.x[0] ?? 0;
  const last = run.x[run.x.length - 1] ?? first;
  if (process.first_x !== null && process.first_x > first + 0.02 * (last - first)) return `since ${moment(run.clock, process.first_x)}`;
  return "all along";
}

function ProcessLine({ run, row, most }: { run: RunPage; row: ProcessRow; most: number }) {
  const process = run.processes[row.index]!;
  const classes = [row.growing ? "growing" : "", row.ended ? "ended" : ""].join(" ").trim();
  return (
    <tr class={classes}>
      <th scope="row">
        <div class="tree-name" style={indentOf(row)}>
          {row.depth > 0 ? <span class="tree-twig" aria-hidden="true">└</span> : null}
          <span>
            <span class="mono">{process.name}</span>
            {row.growing ? <span class="state bad">this one grows</span> : null}
          </span>
        </div>
      </th>
      <td>
        {process.role === null ? <span class="muted">–</span> : <span title={process.role_reason ?? undefined}>{process.role}</span>}
        {process.role_reason === null || row.folded ? null : <div class="aside">{process.role_reason}</div>}
      </td>
      <td class="right">{process.is_pid ? process.id : `no. ${process.id}`}</td>
      <td class="nowrap" title={span(run.clock, process.first_x, process.last_x)}>{seenWords(run, row)}</td>
      <td class="right nowrap">{fromTo(process.first_mb, process.last_mb)}</td>
      <td class="right nowrap">{size(process.peak_mb)}</td>
      <Growth growth_mb={process.growth_mb} share={process.share} growing={row.growing} most={most} />
    </tr>
  );
}

function GroupLine({ row, most, onToggle }: { row: GroupRow; most: number; onToggle: () => void }) {
  const many = row.members.length;
  const each = row.brief || row.last_mb === null ? "" : ` · about ${size(row.last_mb / many)} each`;
  return (
    <tr class={row.brief ? "group ended" : "group"}>
      <th scope="row" colSpan={4}>
        <div class="tree-name" style={indentOf(row)}>
          {row.depth > 0 ? <span class="tree-twig" aria-hidden="true">└</span> : null}
          <button type="button" class="plain" aria-expanded={row.open} onClick={onToggle}>
            <span class="tree-fold" aria-hidden="true">{row.open ? "▾" : "▸"}</span>
            {row.brief ? `${many} short-lived processes, all ended` : `${many} ${row.role.endsWith("s") ? row.role : `${row.role}s`}, together`}
            <span class="muted">{each}</span>
          </button>
          {row.role_reason === null || row.brief ? null : <span class="aside">{row.role_reason}</span>}
        </div>
      </th>
      <td class="right nowrap">{row.brief ? "" : fromTo(row.first_mb, row.last_mb)}</td>
      <td class="right nowrap" title="of the largest">{size(row.peak_mb)}</td>
      {row.brief ? <td colSpan={3} /> : <Growth growth_mb={row.growth_mb} share={row.share} growing={false} most={most} />}
    </tr>
  );
}

export function ProcessTree({ run }: { run: RunPage }) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => treeRows(run, open), [run, open]);
  if (run.processes.length === 0 || (run.processes.length === 1 && run.processes[0]!.name === "")) return null;
  const most = Math.max(1e-9, ...rows.map((row) => Math.abs((row.kind === "group" ? (row.brief ? 0 : row.growth_mb) : run.processes[row.index]!.growth_mb) ?? 0)));
  const toggle = (key: string): void => {
    const next = new Set(open);
    if (!next.delete(key)) next.add(key);
    setOpen(next);
  };
  const many = run.processes.length;
  const named = growingProcess(run);
  const who = named === null ? "" : ` The one that grows is marked.`;
  const hint = many === 1 ? "The job is one process." : `${many} processes, each below the one that started it; memory that several share is divided among them.${who}`;
  return (
    <Section id="tree" title="Process tree" nav="Tree" hint={hint}>
      <div class="scroll-x">
        <table class="tree">
          <caption class="visually-hidden">Processes with their memory and growth</caption>
          <thead>
            <tr>
              <th scope="col">Process</th>
              <th scope="col"><Num k="process.role">Role</Num></th>
              <th scope="col" class="right">Pid</th>
              <th scope="col"><Num k="first_x">Seen</Num></th>
              <th scope="col" class="right"><Num k="processes[].first_mb">First → last</Num></th>
              <th scope="col" class="right"><Num k="peak_mb">Peak</Num></th>
              <th scope="col" class="right"><Num k="processes[].growth_mb">Growth</Num></th>
              <th scope="col" class="bar-cell"><span class="visually-hidden">Growth as a bar</span></th>
              <th scope="col" class="right"><Num k="processes[].share">Share</Num></th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) =>
              row.kind === "group" ? (
                <GroupLine key={row.key} row={row} most={most} onToggle={() => toggle(row.key)} />
              ) : (
                <ProcessLine key={row.index} run={run} row={row} most={most} />
              ),
            )}
          </tbody>
        </table>
      </div>
    </Section>
  );
}
