// SPDX-License-Identifier: Apache-2.0
// The weights of the competing explanations along the run, as parts of 100 %.
//
// Explanations that end (bounded) are stacked from below in one hue, those that do not from above
// them in another; so the edge between the two is how likely it is that growth ends. What never
// weighed much is one part per family.

import type { Moment, RunPage } from "../data";
import { percent } from "../format";
import { type Axis, nearest } from "./axis";
import type { ChartSpec, Reading } from "./canvas";
import { fitting, type Layer, linePath, type View, widthOf, write } from "./layers";
import { ink, paler, tone } from "./palette";
import { edges, type Part, partAt, stack } from "./stack";

const WORTH_NAMING = 0.04; // At its best moment.
const MOST_PER_FAMILY = 5;

export interface WeightPart extends Part {
  bounded: boolean;
  final: number; // Share, at the end.
  words: string;
  dark: boolean; // Words on it are written in the colour of paper.
}

// The moments at which there was enough to weigh.
function weighed(run: RunPage): Moment[] {
  return run.replay.filter((moment) => moment.weights.some((weight) => weight > 0));
}

// In the order of the picture, from below.
export function weightParts(run: RunPage): WeightPart[] {
  const moments = weighed(run);
  const all = run.explanations.map((explanation, column) => {
    const values = moments.map((moment) => 100 * (moment.weights[column] ?? 0));
    return {
      ...explanation,
      values,
      best: values.reduce((a, b) => Math.max(a, b), 0) / 100,
      final: (values[values.length - 1] ?? 0) / 100,
    };
  });
  const family = (bounded: boolean): WeightPart[] => {
    const own = all.filter((each) => each.bounded === bounded).sort((a, b) => b.final - a.final || b.best - a.best);
    const named = own.filter((each) => each.best >= WORTH_NAMING).slice(0, MOST_PER_FAMILY);
    const rest = own.filter((each) => !named.includes(each));
    const hue = tone(bounded ? "bounded" : "unbounded");
    const parts = named.map((each, i) => {
      const share = 0.9 - 0.6 * (i / Math.max(1, named.length));
      return {
        id: each.name,
        name: each.words,
        words: each.words,
        bounded,
        final: each.final,
        values: each.values,
        tone: paler(hue, share),
        dark: share > 0.62,
      };
    });
    if (rest.some((each) => each.best > 0)) {
      const values = moments.map((_, i) => rest.reduce((sum, each) => sum + each.values[i]!, 0));
      const words = `${rest.length} others that ${bounded ? "end" : "do not end"}`;
      parts.push({
        id: `others ${bounded}`,
        name: words,
        words,
        bounded,
        final: (values[values.length - 1] ?? 0) / 100,
        values,
        tone: paler(hue, 0.18),
        dark: false,
      });
    }
    return parts;
  };
  // The heaviest of each family lie at the outer edges, where they are easiest to follow.
  return [...family(true), ...family(false).reverse()];
}

export function weightsSpec(
  run: RunPage,
  axis: Axis,
  parts: WeightPart[],
  domain: readonly [number, number],
): ChartSpec {
  const xs = weighed(run).map((moment) => axis.place(moment.x));
  const tops = edges(xs.length, parts);
  const bounded = parts.filter((part) => part.bounded).length;
  const border: Layer = { paint: (view) => familyBorder(view, xs, bounded > 0 ? tops[bounded - 1] : undefined) };
  const names: Layer = {
    paint: (view) => parts.forEach((part, k) => nameInside(view, xs, part, tops[k]!, tops[k - 1])),
  };
  return {
    label: label(run, parts),
    domain,
    range: () => [0, 100],
    layers: [stack(xs, tops, parts), border, names],
    ticks: "percent",
    height: 220,
    lanes: 0,
    head: 8,
    stops: xs,
    read: (at, height) => reading(run, axis, parts, xs, tops, at, height),
  };
}

function label(run: RunPage, parts: WeightPart[]): string {
  const best = parts.reduce<WeightPart | null>((a, b) => (a === null || b.final > a.final ? b : a), null);
  return `Weights of ${run.explanations.length} explanations along the run${best === null ? "" : `; at the end the likeliest is "${best.words}" with ${percent(best.final)}`}.`;
}

function familyBorder(view: View, xs: number[], top: Float64Array | undefined): void {
  if (top === undefined) return;
  view.ctx.strokeStyle = ink("paper");
  view.ctx.lineWidth = 2 * view.px;
  view.ctx.stroke(linePath(view, xs, top));
}

// The part's name where it is thickest, if it is thick enough for that and the name fits.
function nameInside(
  view: View,
  xs: number[],
  part: WeightPart,
  top: Float64Array,
  bottom: Float64Array | undefined,
): void {
  const thick = (i: number) => view.y(bottom?.[i] ?? 0) - view.y(top[i]!);
  let [from, to] = [-1, -1]; // The longest stretch that is thick enough.
  for (let i = 0, start = -1; i <= xs.length; ++i) {
    const good = i < xs.length && xs[i]! >= view.from && xs[i]! <= view.to && thick(i) >= 17 * view.px;
    if (good && start < 0) start = i;
    if (good || start < 0) continue;
    if (from < 0 || xs[i - 1]! - xs[start]! > xs[to]! - xs[from]!) [from, to] = [start, i - 1];
    start = -1;
  }
  if (from < 0) return;
  const room = view.x(xs[to]!) - view.x(xs[from]!) - 12 * view.px;
  const text = fitting(view, part.words, room, 11);
  if (text !== part.words && text.length < 18) return;
  const middle = nearest(xs, (xs[from]! + xs[to]!) / 2);
  const half = widthOf(view, text, 11) / 2;
  // Within its own edges over the whole length of the name.
  const [left, right] = [view.x(xs[middle]!) - half, view.x(xs[middle]!) + half];
  let [ceiling, ground] = [-Infinity, Infinity];
  for (let i = from; i <= to; ++i) {
    const x = view.x(xs[i]!);
    if (x < left || x > right) continue;
    ceiling = Math.max(ceiling, view.y(top[i]!));
    ground = Math.min(ground, view.y(bottom?.[i] ?? 0));
  }
  if (ground - ceiling < 14 * view.px) return;
  write(view, text, {
    x: view.x(xs[middle]!),
    y: (ceiling + ground) / 2,
    align: "center",
    colour: ink(part.dark ? "paper" : "ink"),
    size: 11.5,
  });
}

function reading(
  run: RunPage,
  axis: Axis,
  parts: WeightPart[],
  xs: number[],
  tops: Float64Array[],
  at: number,
  height: number,
): Reading {
  const index = nearest(xs, at);
  const here = xs[index] ?? at;
  const pointed = partAt(tops, index, height);
  const ends = parts.reduce((sum, part) => sum + (part.bounded ? (part.values[index] ?? 0) : 0), 0) / 100;
  const rows = [{ name: "growth ends", value: percent(ends) }];
  const named = parts
    .map((part, k) => ({
      name: part.words.length > 50 ? `${part.words.slice(0, 48)}…` : part.words,
      share: (part.values[index] ?? 0) / 100,
      colour: part.tone.ink(),
      strong: k === pointed,
    }))
    .filter(({ share, strong }) => share >= 0.005 || strong)
    .reverse()
    .map(({ name, share, colour, strong }) => ({ name, value: percent(share), colour, strong }));
  const verdict = weighed(run)[index]?.verdict;
  return {
    at: here,
    title: axis.describe(here) + (verdict === undefined ? "" : `: ${verdict}`),
    rows: [...rows, ...named],
  };
}
