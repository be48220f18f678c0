// SPDX-License-Identifier: Apache-2.0
// The processes of a run as parts to stack: the largest by name, the rest as one.
//
// A process is called by its role where that is known ("data worker 3"), else by its name and pid.
// Children that come and go have holes in their lines; what a process held before it ended counts
// in its rank, not what it holds at the end. The program itself sends a sum of the smallest ones where
// there are very many ("340 others"); it is part of the rest here.

import type { ProcessInfo, RunPage } from "../data";
import { type Tone, paler, seriesTone, tone } from "./palette";
import type { Part } from "./stack";

const MOST = 12;
const WORTH_NAMING = 0.01; // Of the largest one.

export interface ProcessPart extends Part {
  info: ProcessInfo | null; // null: the rest.
  count: number; // Processes in it.
  peak: number;
}

export function processParts(run: RunPage): ProcessPart[] {
  const names = processNames(run.processes);
  const lines = run.lines.filter((line) => line.group === "process");
  const ranked = lines
    .filter((line) => line.process !== null)
    .map((line) => ({ line, peak: peakOf(line.mb) }))
    .filter(({ peak }) => peak > 0)
    .sort((a, b) => b.peak - a.peak);
  const sums = lines.filter((line) => line.process === null);
  const least = WORTH_NAMING * (ranked[0]?.peak ?? 0);
  const large = ranked.filter(({ peak }, i) => i < 2 || peak >= least);
  const own = large.length + sums.length <= MOST + 1 ? large : large.slice(0, MOST);
  const parts: ProcessPart[] = own.map(({ line, peak }, i) => ({
    id: `process ${line.process}`,
    name: names[line.process!] ?? line.name,
    tone: seriesTone(i),
    values: line.mb,
    info: run.processes[line.process!] ?? null,
    count: 1,
    peak,
  }));
  const rest = [...ranked.slice(own.length).map(({ line }) => line), ...sums];
  const count = rest.reduce(
    (sum, line) => sum + (line.process === null ? Number.parseInt(line.name.replaceAll(",", ""), 10) || 1 : 1),
    0,
  );
  if (rest.length > 0)
    parts.push(
      summed(
        rest.map((line) => line.mb),
        run.x.length,
        count,
      ),
    );
  return parts;
}

function peakOf(values: (number | null)[]): number {
  return values.reduce<number>((peak, mb) => (mb !== null && mb > peak ? mb : peak), 0);
}

function summed(lines: (number | null)[][], length: number, count: number): ProcessPart {
  const values = new Array<number | null>(length).fill(null);
  let peak = 0;
  for (const mbs of lines) {
    for (let i = 0; i < length; ++i) {
      const mb = mbs[i];
      if (mb === null || mb === undefined) continue;
      const sum = (values[i] ?? 0) + mb;
      values[i] = sum;
      if (sum > peak) peak = sum;
    }
  }
  const grey: Tone = paler(tone("muted"), 0.55);
  return {
    id: "others",
    name: count === 1 ? "1 other" : `${count} others`,
    tone: grey,
    values,
    info: null,
    count,
    peak,
  };
}

// Beside `processes`: the role, numbered where several have it; else name and pid.
export function processNames(processes: ProcessInfo[]): string[] {
  const times = new Map<string, number>();
  for (const { role } of processes) if (role !== null) times.set(role, (times.get(role) ?? 0) + 1);
  const next = new Map<string, number>();
  return processes.map((process) => {
    const { role } = process;
    if (role === null)
      return process.is_pid ? `${process.name} (pid ${process.id})` : process.name || `process ${process.id}`;
    if (times.get(role) === 1) return role;
    const number = (next.get(role) ?? 0) + 1;
    next.set(role, number);
    return `${role} ${number}`;
  });
}
