// SPDX-License-Identifier: Apache-2.0
// The verdict along the run as a strip of colour with its confidence above.

import type { RunPage, Word } from "../data";
import { moment, percent, size } from "../format";
import { type Axis, lastNotAbove } from "./axis";
import type { ChartSpec, Reading } from "./canvas";
import { type Layer, rule, type View, widthOf, write } from "./layers";
import { faded, ink } from "./palette";

export interface Stretch {
  word: Word;
  from: number; // On the run's clock.
  to: number;
}

const STRIP = 18; // CSS pixels.

// Neighbouring moments of one answer are one stretch; each lasts until the next begins.
export function stretches(run: RunPage): Stretch[] {
  const found: Stretch[] = [];
  const end = Math.max(run.x[run.x.length - 1] ?? 0, run.replay[run.replay.length - 1]?.x ?? 0);
  for (const { x, verdict } of run.replay) {
    const last = found[found.length - 1];
    if (last !== undefined) last.to = x;
    if (last?.word !== verdict) found.push({ word: verdict, from: x, to: x });
  }
  const last = found[found.length - 1];
  if (last !== undefined) last.to = end;
  return found;
}

export function stripSpec(run: RunPage, axis: Axis, domain: readonly [number, number]): ChartSpec {
  const xs = run.replay.map((each) => axis.place(each.x));
  const spans = stretches(run).map((each) => ({ ...each, from: axis.place(each.from), to: axis.place(each.to) }));
  const layers: Layer[] = [
    { outside: true, paint: (view) => strip(view, spans) },
    { paint: (view) => confidence(view, run, xs, spans) },
    { outside: true, paint: (view) => knew(view, run.knew_at === null ? null : axis.place(run.knew_at), run) },
  ];
  return {
    label: label(run),
    domain,
    range: () => [0, 104],
    layers,
    ticks: "percent",
    height: 150 + STRIP,
    lanes: STRIP + 4,
    head: 20,
    stops: xs,
    read: (at) => reading(run, axis, xs, at),
  };
}

function label(run: RunPage): string {
  const course = stretches(run)
    .slice(-4)
    .map((each) => `${each.word} from ${moment(run.clock, each.from)}`)
    .join(", then ");
  return `The verdict along the run: ${course}.${run.knew_at === null ? "" : ` It did not change after ${moment(run.clock, run.knew_at)}.`}`;
}

function strip(view: View, spans: Stretch[]): void {
  const { ctx, px } = view;
  const top = view.top + view.height + 26 * px;
  write(view, "answer", {
    x: view.left - 7 * px,
    y: top + (STRIP * px) / 2,
    align: "right",
    colour: ink("muted"),
    size: 10.5,
  });
  for (const { word, from, to } of spans) {
    const left = Math.max(view.left, view.x(from));
    const right = Math.min(view.left + view.width, view.x(to));
    if (right <= left) continue;
    ctx.fillStyle = faded(ink(word), 0.1);
    ctx.fillRect(left, view.top, right - left, view.height);
    ctx.fillStyle = ink(word);
    ctx.fillRect(left, top, Math.max(right - left - px, px), STRIP * px);
    if (widthOf(view, word, 11, true) < right - left - 8 * px) {
      write(view, word, {
        x: (left + right) / 2,
        y: top + (STRIP * px) / 2 + 0.5 * px,
        align: "center",
        colour: ink("paper"),
        size: 11,
        bold: true,
      });
    }
  }
}

// The line in the colour of the answer that it is about.
function confidence(view: View, run: RunPage, xs: number[], spans: Stretch[]): void {
  const { ctx, px } = view;
  ctx.lineWidth = 2 * px;
  ctx.lineJoin = "round";
  for (const span of spans) {
    ctx.beginPath();
    let drawing = false;
    run.replay.forEach((each, i) => {
      const inside =
        xs[i]! >= span.from && (xs[i]! < span.to || span === spans[spans.length - 1]) && each.verdict === span.word;
      if (!inside || each.confidence === null) {
        drawing = false;
        return;
      }
      const [x, y] = [view.x(xs[i]!), view.y(100 * each.confidence)];
      if (drawing) ctx.lineTo(x, y);
      else ctx.moveTo(x, y);
      // An answer that lasted one moment is a short dash.
      const next = xs[i + 1] ?? span.to;
      if (run.replay[i + 1]?.verdict !== each.verdict) ctx.lineTo(view.x(Math.min(next, span.to)), y);
      drawing = true;
    });
    ctx.strokeStyle = ink(span.word);
    ctx.stroke();
  }
}

function knew(view: View, at: number | null, run: RunPage): void {
  if (at === null || at < view.from || at > view.to) return;
  rule(view, { at }, ink("ink"), 1.2, [3, 3]);
  const text = `knew from ${moment(run.clock, run.knew_at)} on`;
  const half = widthOf(view, text, 11.5, true) / 2;
  const x = Math.min(Math.max(view.x(at), view.left + half), view.left + view.width - half);
  write(view, text, { x, y: view.top - 9 * view.px, align: "center", colour: ink("ink"), bold: true });
}

function reading(run: RunPage, axis: Axis, xs: number[], at: number): Reading {
  const index = Math.max(0, lastNotAbove(xs, at));
  const here = xs[index] ?? at;
  const each = run.replay[index];
  if (each === undefined) return { at: here, title: axis.describe(here), rows: [] };
  const colour = ink(each.verdict);
  const rows: Reading["rows"] = [{ name: "it said", value: each.verdict, colour, strong: true }];
  if (each.confidence !== null)
    rows.push({ name: "confidence", value: percent(each.confidence), colour, y: 100 * each.confidence });
  if (each.forecast_mb !== null) rows.push({ name: "would level near", value: size(each.forecast_mb) });
  return { at: here, title: axis.describe(here), rows };
}
