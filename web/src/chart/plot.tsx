// SPDX-License-Identifier: Apache-2.0
// A chart as a component: the canvas, what the cursor reads, and the same in words.
//
// The canvas is one image to a screen reader, with a sentence that says what it shows; the values at
// the cursor are spoken when the arrow keys move it. The table with the key points is `Points`.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Axis } from "./axis";
import { Chart, type ChartSpec, type Reading } from "./canvas";
import { listenTo } from "./gestures";
import type { ChartGroup } from "./group";
import { Tip, type TipPlace } from "./tip";

const KEYS = "Arrow keys move the cursor, plus and minus zoom, 0 shows all of it.";

export function Plot({ spec, axis, group }: { spec: ChartSpec; axis: Axis; group: ChartGroup }) {
  const focus = useRef<HTMLDivElement>(null);
  const holder = useRef<HTMLDivElement>(null);
  const chart = useRef<Chart | null>(null);
  const [tip, setTip] = useState<TipPlace | null>(null);
  const [spoken, setSpoken] = useState("");
  const reading = useRef<Reading | null>(null);

  useLayoutEffect(() => {
    const tell = (news: Reading | null) => {
      reading.current = news;
      setTip(news === null || chart.current === null ? null : placed(chart.current, news));
    };
    const made = new Chart(holder.current!, group, { spec, axis }, tell);
    chart.current = made;
    const deaf = listenTo(made, focus.current!, () => setSpoken(inWords(reading.current)));
    return () => {
      deaf();
      made.destroy();
      chart.current = null;
    };
  }, [group]);

  const first = useRef(true);
  useLayoutEffect(() => {
    if (!first.current) chart.current?.show(spec, axis);
    first.current = false;
  }, [spec, axis]);

  return (
    <div class="plot">
      <div class="plot-focus" ref={focus} tabIndex={0} role="img" aria-label={`${spec.label} ${KEYS}`}>
        <div ref={holder} class="plot-canvas" />
        {tip && <Tip place={tip} />}
      </div>
      <p class="visually-hidden" aria-live="polite">
        {spoken}
      </p>
    </div>
  );
}

function placed(chart: Chart, reading: Reading): TipPlace {
  const { plot } = chart;
  const { offsetLeft, offsetTop } = plot.over;
  const left = offsetLeft + plot.valToPos(reading.at, "x");
  const dots = reading.rows
    .filter((row) => row.y !== undefined)
    .map((row) => ({ left, top: offsetTop + plot.valToPos(row.y!, "y"), colour: row.colour ?? "" }))
    .filter((dot) => dot.top >= offsetTop - 1 && dot.top <= offsetTop + plot.over.clientHeight + 1);
  return { left, top: offsetTop, width: plot.width, reading, dots };
}

function inWords(reading: Reading | null): string {
  if (reading === null) return "";
  return `${reading.title}: ${reading.rows.map((row) => `${row.name} ${row.value}`).join(", ")}`;
}
