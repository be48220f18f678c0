// SPDX-License-Identifier: Apache-2.0
// Where it leads: the band that holds 90 % of all explanations, its middle, and the likeliest
// explanation of either kind as a dashed line with its name at the end.

import type { Fan } from "../data";
import { percent, size } from "../format";
import { type Axis, between } from "./axis";
import type { TipRow } from "./canvas";
import { band, type Layer, line, rule, type View, widthOf, wrapped, write } from "./layers";
import { ink } from "./palette";

type Path = Fan["paths"][number];

// An explanation below this share would only clutter the picture.
const WORTH_DRAWING = 0.05;
const LINE = 14; // CSS pixels between two lines of a name.

export interface Forecast {
  layers(limit: number | null): Layer[];
  xs: number[];
  fan: Fan;
  paths: { path: Path; xs: number[] }[];
  rows(at: number): TipRow[];
}

export function forecastOf(fan: Fan, axis: Axis): Forecast {
  const xs = fan.x.map(axis.place);
  const paths = fan.paths
    .filter((path) => path.weight >= WORTH_DRAWING)
    .map((path) => ({ path, xs: path.x.map(axis.place) }));
  const colour = (path: Path) => () => ink(path.bounded ? "bounded" : "unbounded");
  const named = [paths.find(({ path }) => path.bounded), paths.find(({ path }) => !path.bounded)].filter(
    (each) => each !== undefined,
  );
  const layers = (limit: number | null): Layer[] => [
    band(xs, fan.low_mb, fan.high_mb, () => ink("band")),
    { paint: (view) => border(view, xs[0]) },
    line(xs, fan.mid_mb, { colour: () => ink("forecast"), width: 1, dash: [1.5, 3] }),
    ...paths.map(({ path, xs: own }) =>
      line(own, path.mb, {
        colour: colour(path),
        width: named.some((each) => each.path === path) ? 1.8 : 1,
        dash: [6, 4],
      }),
    ),
    { paint: (view) => nameEnds(view, named, limit) },
  ];
  return { layers, xs, fan, paths, rows: (at) => rowsAt(fan, xs, paths, at) };
}

// Here what is known ends.
function border(view: View, at: number | undefined): void {
  if (at === undefined || at < view.from || at > view.to) return;
  rule(view, { at }, ink("muted"), 1, [2, 2]);
  const x = view.x(at) + 6 * view.px;
  if (view.left + view.width - x < 70 * view.px) return;
  write(view, "forecast →", {
    x,
    y: view.top + view.height - 9 * view.px,
    colour: ink("muted"),
    size: 10.5,
    halo: true,
  });
}

// Each name beside its line's end, where limit, the other name and the edges leave room for it.
function nameEnds(view: View, named: Forecast["paths"], limit: number | null): void {
  const { px } = view;
  const taken: [number, number][] = limit === null ? [] : [[view.y(limit) - px, view.y(limit) + px]];
  for (const { path, xs } of named) {
    const end = Math.min(view.to, xs[xs.length - 1] ?? view.to);
    const mb = between(xs, path.mb, end);
    if (mb === null || (xs[0] ?? end) >= view.to) continue;
    const x = Math.min(view.x(end), view.left + view.width) - 4 * px;
    const room = Math.max(x - Math.max(view.left, view.x(xs[0]!)), 170 * px);
    const lines = wrapped(view, `${percent(path.weight)} ${path.words}`, room, 11);
    const wide = Math.max(...lines.map((text) => widthOf(view, text, 11)));
    const high = lines.length * LINE * px;
    // Beneath a rising line the name must clear it at its own beginning, too.
    const left = view.from + ((x - wide - view.left) / view.width) * (view.to - view.from);
    const beneath = Math.max(view.y(mb), view.y(between(xs, path.mb, left) ?? mb)) + 5 * px;
    const above = view.y(mb) - 5 * px - high;
    const fits = (top: number) =>
      top >= view.top &&
      top + high <= view.top + view.height - 18 * px &&
      taken.every(([from, to]) => top > to || top + high < from);
    const further = beneath + LINE * px;
    const top = (path.bounded ? [beneath, above, further] : [above, beneath, further]).find(fits) ?? view.top;
    taken.push([top, top + high]);
    const colour = ink(path.bounded ? "bounded" : "unbounded");
    lines.forEach((text, i) =>
      write(view, text, { x, y: top + (i + 0.5) * LINE * px, align: "right", colour, size: 11, halo: true }),
    );
  }
}

function rowsAt(fan: Fan, xs: number[], paths: Forecast["paths"], at: number): TipRow[] {
  const [low, mid, high] = [fan.low_mb, fan.mid_mb, fan.high_mb].map((values) => between(xs, values, at));
  if (low === null || low === undefined || high === null || high === undefined) return [];
  const rows: TipRow[] = [{ name: "90 % between", value: `${size(low)} and ${size(high)}`, colour: ink("forecast") }];
  if (mid !== null && mid !== undefined)
    rows.push({ name: "middle", value: size(mid), colour: ink("forecast"), y: mid });
  for (const { path, xs: own } of paths.slice(0, 4)) {
    const mb = between(own, path.mb, at);
    if (mb === null) continue;
    rows.push({
      name: `${percent(path.weight)} ${shortened(path.words)}`,
      value: size(mb),
      colour: ink(path.bounded ? "bounded" : "unbounded"),
      y: mb,
    });
  }
  return rows;
}

function shortened(words: string): string {
  return words.length > 44 ? `${words.slice(0, 42).trimEnd()}…` : words;
}
