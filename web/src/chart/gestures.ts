// SPDX-License-Identifier: Apache-2.0
// Keys, wheel and fingers on a chart. uPlot itself knows the mouse.
//
//   left, right     the cursor to the next sample (with shift ten times as far); Home, End
//   + and -         nearer and farther, about the cursor
//   0, Escape       all of it again
//   ctrl + wheel    nearer and farther, about the pointer
//   one finger      moves the cursor; two zoom

import { nearest } from "./axis";
import type { Chart } from "./canvas";

// The next stop in that direction which is at least a pixel away.
function nextStop(chart: Chart, from: number, direction: 1 | -1, times: number): number {
  const { stops } = chart.spec;
  if (stops.length === 0) return from;
  const [low, high] = chart.visible();
  const pixel = (high - low) / Math.max(1, chart.plot.over.clientWidth);
  let index = nearest(stops, from);
  let at = stops[index]!;
  for (let n = 0; n < times; ++n) {
    const start = at;
    while (stops[index + direction] !== undefined && Math.abs(at - start) < pixel) {
      index += direction;
      at = stops[index]!;
    }
  }
  return at;
}

// Moves the cursor; the view follows it over its edge.
function step(chart: Chart, direction: 1 | -1, times: number): void {
  const [low, high] = chart.visible();
  const now = chart.group.cursor;
  const at =
    now === null || now < low || now > high
      ? nextStop(chart, direction > 0 ? low : high, direction, 0)
      : nextStop(chart, now, direction, times);
  if (at < low) chart.zoomTo(at, at + (high - low));
  if (at > high) chart.zoomTo(at - (high - low), at);
  chart.point(at);
}

function key(chart: Chart, event: KeyboardEvent): boolean {
  const [low, high] = chart.visible();
  const cursor = chart.group.cursor;
  const about = cursor !== null && cursor >= low && cursor <= high ? cursor : (low + high) / 2;
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  switch (event.key) {
    case "ArrowLeft":
      step(chart, -1, event.shiftKey ? 10 : 1);
      return true;
    case "ArrowRight":
      step(chart, 1, event.shiftKey ? 10 : 1);
      return true;
    case "Home":
      chart.point(nextStop(chart, low, 1, 0));
      return true;
    case "End":
      chart.point(nextStop(chart, high, -1, 0));
      return true;
    case "+":
    case "=":
      chart.zoomBy(0.5, about);
      return true;
    case "-":
    case "_":
      chart.zoomBy(2, about);
      return true;
    case "0":
      chart.group.setZoom(null);
      return true;
    case "Escape":
      if (chart.group.zoom === null && cursor === null) return false;
      chart.group.setZoom(null);
      chart.point(null);
      return true;
    default:
      return false;
  }
}

// Fingers: one reads, two zoom about the middle between them.
function fingers(chart: Chart): { move(event: TouchEvent): void; start(event: TouchEvent): void } {
  let apart = 0;
  const spread = (event: TouchEvent) => Math.abs(event.touches[0]!.clientX - event.touches[1]!.clientX);
  return {
    start(event) {
      const one = event.touches[0];
      if (event.touches.length === 2) apart = spread(event);
      else if (one !== undefined) chart.point(chart.at(one.clientX));
    },
    move(event) {
      const [one, two] = [event.touches[0], event.touches[1]];
      if (one !== undefined && two === undefined) chart.point(chart.at(one.clientX));
      if (one === undefined || two === undefined) return;
      event.preventDefault();
      const now = spread(event);
      if (apart > 10 && now > 10) chart.zoomBy(apart / now, chart.at((one.clientX + two.clientX) / 2));
      apart = now;
    },
  };
}

// Returns how to take the listeners off again.
export function listenTo(chart: Chart, focus: HTMLElement, byKeyboard: () => void): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  focus.addEventListener(
    "keydown",
    (event) => {
      if (!key(chart, event)) return;
      event.preventDefault();
      byKeyboard();
    },
    { signal },
  );
  focus.addEventListener("blur", () => chart.point(null), { signal });
  const { over } = chart.plot;
  over.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      chart.zoomBy(event.deltaY > 0 ? 1.25 : 0.8, chart.at(event.clientX));
    },
    { signal, passive: false },
  );
  const touch = fingers(chart);
  over.addEventListener("touchstart", (event) => touch.start(event), { signal, passive: true });
  over.addEventListener("touchmove", (event) => touch.move(event), { signal, passive: false });
  return () => stop.abort();
}
