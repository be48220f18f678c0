// SPDX-License-Identifier: Apache-2.0
// What the cursor reads: the moment, and the values there, beside the crosshair.

import type { Reading } from "./canvas";

export interface TipPlace {
  left: number; // Of the crosshair, in the chart.
  top: number;
  width: number; // Of the chart.
  reading: Reading;
  dots: { left: number; top: number; colour: string }[];
}

const GAP = 14;

export function Tip({ place }: { place: TipPlace }) {
  const { reading, left, width } = place;
  // On the side with more room.
  const side = left > width * 0.55 ? { right: `${width - left + GAP}px` } : { left: `${left + GAP}px` };
  return (
    <div class="plot-over" aria-hidden="true">
      {place.dots.map((dot, i) => (
        <i key={i} class="plot-dot" style={{ left: `${dot.left}px`, top: `${dot.top}px`, background: dot.colour }} />
      ))}
      <div class="plot-tip" style={{ top: `${place.top + 8}px`, ...side }}>
        <b>{reading.title}</b>
        <table>
          {reading.rows.map((row) => (
            <tr key={row.name} class={row.strong === true ? "strong" : ""}>
              <td>
                <i class="chart-key" style={{ background: row.colour ?? "transparent" }} />
              </td>
              <th>{row.name}</th>
              <td>{row.value}</td>
            </tr>
          ))}
        </table>
      </div>
    </div>
  );
}
