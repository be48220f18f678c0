// SPDX-License-Identifier: Apache-2.0
// Callers and callees of a call, over all stacks: who allocates through it, and through what it does.
//
// A flame graph shows a call once for every way that leads to it. Here its stacks are one: each counts
// once, also where the call calls itself; then its caller is the one of the outermost, its callee the one
// of the innermost.

import { useMemo } from "preact/hooks";
import type { HeapPage } from "../data";
import { counted, size } from "../format";
import { shareOf } from "./amounts";
import { type Width, widthOf } from "./tree";

export interface Neighbour {
  frame: number; // -1: nobody called it, or it allocates itself.
  amount: number;
}
export interface Neighbours {
  callers: Neighbour[]; // The most first.
  callees: Neighbour[];
  through: number; // Of all stacks with the call.
  whole: number; // Of all stacks.
}

function sorted(amounts: Map<number, number>): Neighbour[] {
  return [...amounts].map(([frame, amount]) => ({ frame, amount })).sort((a, b) => b.amount - a.amount || a.frame - b.frame);
}

export function neighboursOf(stacks: HeapPage["stacks"], frame: number, width: Width): Neighbours {
  const callers = new Map<number, number>();
  const callees = new Map<number, number>();
  let [through, whole] = [0, 0];
  for (const stack of stacks) {
    const amount = widthOf(stack, width);
    whole += amount;
    const outermost = stack.frames.indexOf(frame);
    if (outermost < 0 || amount <= 0) continue;
    through += amount;
    const caller = stack.frames[outermost - 1] ?? -1;
    const callee = stack.frames[stack.frames.lastIndexOf(frame) + 1] ?? -1;
    callers.set(caller, (callers.get(caller) ?? 0) + amount);
    callees.set(callee, (callees.get(callee) ?? 0) + amount);
  }
  return { callers: sorted(callers), callees: sorted(callees), through, whole };
}

// "12.4 MB", "1,204 blocks".
export function amountWords(amount: number, width: Width): string {
  return width === "temporary" ? counted(Math.round(amount), "block") : size(amount);
}

const kMost = 8;

interface SideProps {
  title: string;
  none: string;
  list: Neighbour[];
  through: number;
  heap: HeapPage;
  width: Width;
  onChoose: (frame: number) => void;
}

function Side({ title, none, list, through, heap, width, onChoose }: SideProps) {
  return (
    <div>
      <h4>{title}</h4>
      <ul>
        {list.slice(0, kMost).map(({ frame, amount }) => (
          <li key={frame}>
            <span class="right nowrap">{amountWords(amount, width)}</span>
            <span class="muted nowrap">{shareOf(amount / through)}</span>
            {frame < 0 ? (
              <span class="muted">{none}</span>
            ) : (
              <button type="button" class="plain mono" onClick={() => onChoose(frame)}>{heap.frames[frame] ?? "?"}</button>
            )}
          </li>
        ))}
      </ul>
      {list.length > kMost ? <p class="muted">and {list.length - kMost} more</p> : null}
    </div>
  );
}

export function Around(props: { heap: HeapPage; frame: number; width: Width; onChoose: (frame: number) => void }) {
  const { heap, frame, width } = props;
  const around = useMemo(() => neighboursOf(heap.stacks, frame, width), [heap, frame, width]);
  if (around.through <= 0) return null;
  return (
    <div class="flame-around">
      <p class="muted">
        Over all stacks through it: {amountWords(around.through, width)}, {shareOf(around.through / around.whole)} of all.
      </p>
      <div class="flame-sides">
        <Side title="Called by" none="nobody: the outermost call" list={around.callers} {...{ heap, width }} through={around.through} onChoose={props.onChoose} />
        <Side title="Allocates through" none="itself" list={around.callees} {...{ heap, width }} through={around.through} onChoose={props.onChoose} />
      </div>
    </div>
  );
}
