// SPDX-License-Identifier: Apache-2.0
// One chart on the screen: uPlot with our layers between its axes.
//
// A chart is made once and then shown one ChartSpec after the other; live data therefore neither
// flickers nor loses the zoom. The horizontal stretch comes from the group, so all charts of a run
// show the same one.

import uPlot from "uplot";
import type { Axis } from "./axis";
import type { ChartGroup, Span } from "./group";
import { type Layer, type View, write } from "./layers";
import { ink, isPrinting, watchTheme } from "./palette";
import { scalesOf } from "./scales";

export interface TipRow {
  name: string;
  value: string;
  colour?: string; // Of its key.
  y?: number; // Where a dot marks it.
  strong?: boolean;
}

export interface Reading {
  at: number; // The moment that is read, which may be the nearest sample.
  title: string;
  rows: TipRow[];
}

export interface ChartSpec {
  label: string; // One sentence for those who cannot see it.
  domain: Span;
  range(from: number, to: number): Span; // The vertical one, given the stretch in view.
  layers: Layer[];
  ticks: "mb" | "percent" | "none";
  height: number; // CSS pixels; `lanes` of them below the axis, `head` above.
  lanes: number;
  head: number;
  stops: ArrayLike<number>; // Where the arrow keys stop.
  read(at: number, value: number): Reading; // `value`: at which height the pointer is.
}

const PAPER_WIDTH = 690;

export class Chart {
  readonly plot: uPlot;
  spec: ChartSpec; // What is shown now.
  axis: Axis;
  private readonly undo: (() => void)[] = [];
  private pointer = 0; // Height of the pointer, as a value.

  constructor(
    readonly holder: HTMLElement,
    readonly group: ChartGroup,
    first: { spec: ChartSpec; axis: Axis },
    private readonly tell: (reading: Reading | null) => void,
  ) {
    this.spec = first.spec;
    this.axis = first.axis;
    this.plot = new uPlot(
      this.options(),
      [
        [0, 1],
        [null, null],
      ],
      holder,
    );
    this.rescale();
    const sizes = new ResizeObserver(() => this.resize());
    sizes.observe(holder);
    this.undo.push(() => sizes.disconnect());
    this.undo.push(watchTheme(() => this.themed()));
    this.undo.push(group.watch((what) => (what === "cursor" ? this.follow() : this.rescale())));
  }

  destroy(): void {
    for (const step of this.undo) step();
    this.plot.destroy();
  }

  show(spec: ChartSpec, axis: Axis): void {
    const resized = spec.height !== this.spec.height;
    this.spec = spec;
    this.axis = axis;
    if (resized) this.resize();
    this.rescale();
  }

  visible(): Span {
    return this.group.zoom ?? this.spec.domain;
  }

  // The value under a place of the screen.
  at(clientX: number): number {
    return this.plot.posToVal(clientX - this.plot.over.getBoundingClientRect().left, "x");
  }

  zoomTo(from: number, to: number): void {
    const [low, high] = this.spec.domain;
    const least = (high - low) * 1e-5;
    if (!(to - from > least)) return;
    const [a, b] = [Math.max(low, from), Math.min(high, to)];
    this.group.setZoom(a <= low && b >= high ? null : [a, b]);
  }

  // Factor below 1 comes nearer; `about` stays where it is.
  zoomBy(factor: number, about: number): void {
    const [from, to] = this.visible();
    this.zoomTo(about - (about - from) * factor, about + (to - about) * factor);
  }

  // At the moment that is read there, so that the cursors of all charts stand at that one.
  point(at: number | null): void {
    this.group.setCursor(at === null ? null : this.spec.read(at, this.pointer).at, this);
  }

  rescale(): void {
    const [from, to] = this.visible();
    const [low, high] = this.spec.range(from, to);
    this.plot.batch(() => {
      this.plot.setScale("x", { min: from, max: to });
      this.plot.setScale("y", { min: low, max: high });
      this.plot.redraw(false, true);
    });
    if (this.group.cursor !== null) this.follow();
  }

  private resize(): void {
    const width = isPrinting() ? PAPER_WIDTH : Math.max(240, this.holder.clientWidth);
    const { height } = this.spec;
    if (width === this.plot.width && height === this.plot.height) return;
    this.plot.setSize({ width, height });
  }

  private themed(): void {
    this.resize();
    this.plot.redraw(false, true);
  }

  // The cursor of the group has moved, here or in another chart.
  private follow(): void {
    const { cursor, cursorOwner } = this.group;
    const left = cursor === null ? -10 : this.plot.valToPos(cursor, "x");
    const inside = cursor !== null && left >= 0 && left <= this.plot.over.clientWidth;
    if (cursorOwner !== this || !inside) this.tell(null);
    if (!inside) return this.plot.setCursor({ left: -10, top: -10 }, false);
    const reading = cursorOwner === this ? this.spec.read(cursor, this.pointer) : null;
    this.plot.setCursor({ left: this.plot.valToPos(reading?.at ?? cursor, "x"), top: 10 }, false);
    if (reading !== null) this.tell(reading);
  }

  private moved(event: MouseEvent): void {
    const box = this.plot.over.getBoundingClientRect();
    this.pointer = this.plot.posToVal(event.clientY - box.top, "y");
    // A new owner makes the same place news.
    this.point(this.plot.posToVal(event.clientX - box.left, "x"));
    this.follow();
  }

  private view(): View {
    const u = this.plot;
    const { left, top, width, height } = u.bbox;
    const [from, to] = [u.scales.x!.min!, u.scales.x!.max!];
    const [low, high] = [u.scales.y!.min!, u.scales.y!.max!];
    const [across, up] = [width / (to - from || 1), height / (high - low || 1)];
    return {
      ctx: u.ctx,
      from,
      to,
      left,
      top,
      width,
      height,
      px: uPlot.pxRatio,
      x: (at) => left + (at - from) * across,
      y: (value) => top + height - (value - low) * up,
    };
  }

  private draw(): void {
    const view = this.view();
    const { ctx } = view;
    for (const layer of this.spec.layers) {
      ctx.save();
      if (layer.outside !== true) {
        ctx.beginPath();
        ctx.rect(view.left, view.top, view.width, view.height);
        ctx.clip();
      }
      layer.paint(view);
      ctx.restore();
    }
    ctx.save();
    const y = view.top + view.height + 13.5 * view.px;
    write(view, this.axis.name, { x: view.left - 26 * view.px, y, align: "right", colour: ink("muted") });
    ctx.restore();
  }

  private options(): uPlot.Options {
    return {
      width: Math.max(240, this.holder.clientWidth),
      height: this.spec.height,
      padding: [() => this.spec.head, 22, 0, 0],
      legend: { show: false },
      series: [{}, { show: false }],
      scales: {
        x: { time: false, auto: false, range: (_u, a, b) => [a, b] },
        y: { auto: false, range: (_u, a, b) => [a, b] },
      },
      axes: scalesOf(() => this),
      cursor: {
        x: true,
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false, dist: 4 },
        bind: {
          mousemove: (_u, _t, handler) => (event) => {
            handler(event);
            this.moved(event);
            return null;
          },
          mouseleave: (_u, _t, handler) => (event) => {
            handler(event);
            this.point(null);
            return null;
          },
          dblclick: () => () => {
            this.group.setZoom(null);
            return null;
          },
        },
      },
      hooks: {
        draw: [() => this.draw()],
        setSelect: [
          (u) => {
            const { left, width } = u.select;
            if (width > 0) this.zoomTo(u.posToVal(left, "x"), u.posToVal(left + width, "x"));
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          },
        ],
      },
    };
  }
}
