// SPDX-License-Identifier: Apache-2.0
// What stands around the plot and not in it: epoch ends above, and beneath the axis a lane for each
// kind of event and the ruler of phases with their rates.
//
// Every kind of event has a lane of its own with its name at the left, so that forty evaluations
// are forty ticks and one word. Events closer than a pixel are one tick.

import type { MarkKind, RunPage } from "../data";
import { count, rate } from "../format";
import type { Axis } from "./axis";
import { fitting, type Layer, rule, type View, widthOf, write } from "./layers";
import { faded, ink } from "./palette";

export const LANE = 14;
export const RULER = 20;
const BELOW_TICKS = 26; // CSS pixels that the axis takes for its own labels.
// A phase that moves by less than this share of the picture's height is level.
const LEVEL_SHARE = 0.03;
const MOST_PHASES = 40;

const NAMES: Record<Exclude<MarkKind, "epoch">, string> = {
  eval: "evaluation",
  checkpoint: "checkpoint",
  restart: "restart",
  oom: "out of mem.",
  mark: "mark",
};
type LaneKind = keyof typeof NAMES;

export function laneKinds(run: RunPage): LaneKind[] {
  const present = new Set(run.marks.map((mark) => mark.kind));
  return (Object.keys(NAMES) as LaneKind[]).filter((kind) => present.has(kind));
}

export function hasRuler(run: RunPage): boolean {
  return run.phases.length > 0 && run.phases.length <= MOST_PHASES;
}

function laneInk(kind: LaneKind): string {
  return kind === "oom" || kind === "restart" ? ink("leak") : kind === "mark" ? ink("ink") : ink("mark");
}

// Is a phase level, as the ruler of the terminal says it?
export function isLevel(run: RunPage, phase: RunPage["phases"][number], span: number): boolean {
  const settled = run.verdict.settled;
  return (
    Math.abs(phase.to_mb - phase.from_mb) < LEVEL_SHARE * span || (settled !== null && phase.from_step >= settled.step)
  );
}

export function eventLanes(run: RunPage, axis: Axis): Layer {
  const kinds = laneKinds(run);
  return {
    outside: true,
    paint(view) {
      kinds.forEach((kind, lane) => {
        const y = view.top + view.height + (BELOW_TICKS + LANE * (lane + 0.5)) * view.px;
        gutterWord(view, NAMES[kind], y);
        ticks(
          view,
          run.marks.filter((mark) => mark.kind === kind).map((mark) => ({ at: axis.place(mark.x), text: mark.text })),
          y,
          kind,
        );
      });
    },
  };
}

function gutterWord(view: View, word: string, y: number): void {
  write(view, word, { x: view.left - 7 * view.px, y, align: "right", colour: ink("muted"), size: 10.5 });
}

function ticks(view: View, marks: { at: number; text: string }[], y: number, kind: LaneKind): void {
  const { ctx, px } = view;
  const colour = laneInk(kind);
  ctx.fillStyle = faded(colour, 0.18);
  ctx.fillRect(view.left, y - 0.5 * px, view.width, px);
  let last = -Infinity;
  let free = -Infinity; // Where the next word may begin.
  for (const mark of marks) {
    const x = Math.round(view.x(mark.at));
    if (mark.at < view.from || mark.at > view.to || x - last < px) continue;
    last = x;
    ctx.fillStyle = colour;
    ctx.fillRect(x - px, y - 4 * px, 2 * px, 8 * px);
    // A reader's own marks have names worth the room.
    if (kind !== "mark" || x < free) continue;
    const text = fitting(view, mark.text, 140 * px, 10.5);
    if (x + 5 * px + widthOf(view, text, 10.5) > view.left + view.width) continue;
    write(view, text, { x: x + 5 * px, y, colour: ink("muted"), size: 10.5, halo: true });
    free = x + 16 * px + widthOf(view, text, 10.5);
  }
}

// Restarts and out-of-memory kills matter over the whole height.
export function gravePlaces(run: RunPage, axis: Axis): Layer {
  const grave = run.marks.filter((mark) => mark.kind === "restart" || mark.kind === "oom");
  return {
    paint(view) {
      for (const mark of grave.slice(0, 60)) rule(view, { at: axis.place(mark.x) }, faded(ink("leak"), 0.7), 1, [6, 3]);
    },
  };
}

export function phaseRuler(run: RunPage, axis: Axis): Layer {
  const lanes = laneKinds(run).length;
  return {
    outside: true,
    paint(view) {
      const { ctx, px } = view;
      const y = view.top + view.height + (BELOW_TICKS + LANE * lanes + RULER / 2) * px;
      gutterWord(view, "growth", y);
      const low = Math.min(...run.phases.map((phase) => Math.min(phase.from_mb, phase.to_mb)));
      const high = Math.max(...run.phases.map((phase) => Math.max(phase.from_mb, phase.to_mb)));
      for (const phase of run.phases) {
        const left = Math.max(view.left, view.x(axis.place(phase.from_step)));
        const right = Math.min(view.left + view.width, view.x(axis.place(phase.to_step)));
        if (right - left < 3 * px) continue;
        const level = isLevel(run, phase, Math.max(high - low, 0.05 * high));
        const colour = level ? ink("plateau") : phase.rate_mb_per_step < 0 ? ink("muted") : ink("forecast");
        ctx.fillStyle = faded(colour, 0.16);
        ctx.beginPath();
        ctx.roundRect(left + px, y - 8 * px, right - left - 2 * px, 16 * px, 3 * px);
        ctx.fill();
        const text = level ? "level" : rate(run.clock, phase.rate_mb_per_step);
        if (widthOf(view, text, 11) > right - left - 8 * px) continue;
        write(view, text, { x: (left + right) / 2, y, align: "center", colour, size: 11 });
      }
    },
  };
}

// Dotted lines where passes over the data end. A fence of them is thinned.
export function epochEnds(run: RunPage, axis: Axis): Layer {
  return {
    outside: true,
    paint(view) {
      const places = run.epochs
        .map((x, i) => ({ at: axis.place(x), number: i + 1 }))
        .filter(({ at }) => at >= view.from && at <= view.to);
      if (places.length === 0) return;
      const apart = view.width / places.length;
      const every = Math.max(1, Math.ceil((66 * view.px) / apart));
      // The limit has its name there if it is above the picture.
      const above = run.limit_mb !== null && view.y(run.limit_mb) < view.top;
      const free = view.left + (above ? 104 * view.px : 0);
      for (const { at, number } of places) {
        if (every > 1 && number % every !== 0) continue;
        rule(view, { at }, ink("epoch"), 1, [1.5, 3.5]);
        const text = `epoch ${count(number)} ends`;
        const short = apart < 96 * view.px ? `epoch ${count(number)}` : text;
        const half = widthOf(view, short, 10.5) / 2;
        if (above && view.x(at) - half < free) continue;
        const x = Math.min(Math.max(view.x(at), view.left + half), view.left + view.width - half);
        write(view, short, { x, y: view.top - 8 * view.px, align: "center", colour: ink("epoch"), size: 10.5 });
      }
    },
  };
}
