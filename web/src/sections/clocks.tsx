// SPDX-License-Identifier: Apache-2.0
// Which clock does growth follow: every step, every pass over the data, every evaluation, or every
// checkpoint? Growth that comes with evaluations points at the code that runs then.
//
// The bar is the share of all growth that fell into stretches with such an event; the tick on it is
// the share that would fall there if growth did not care. The further the bar passes its tick, the
// more growth follows that clock.

import type { ClockGrowth, RunPage } from "../data";
import { change, shareOf } from "../flame/amounts";
import { count } from "../format";
import { Num } from "../number";
import { Section } from "../section";

const kNames: Record<ClockGrowth["clock"], string> = {
  step: "every step",
  epoch: "every epoch",
  eval: "every evaluation",
  checkpoint: "every checkpoint",
};

const kEvents: Record<ClockGrowth["clock"], [string, string]> = {
  step: ["step", "steps"],
  epoch: ["epoch", "epochs"],
  eval: ["evaluation", "evaluations"],
  checkpoint: ["checkpoint", "checkpoints"],
};

function ShareBar({ row, ends }: { row: ClockGrowth; ends: boolean }) {
  if (row.share === null) return <span class="muted">–</span>;
  const share = Math.min(1, Math.max(0, row.share));
  const expected = row.share_expected === null ? null : Math.min(1, Math.max(0, row.share_expected));
  const label = `${shareOf(share)} of the growth${expected === null ? "" : `, ${shareOf(expected)} expected by chance`}`;
  return (
    <div class="clock-share">
      <svg class={row.follows ? `clock-bar follows${ends ? " calm" : ""}` : "clock-bar"} viewBox="0 0 200 18" preserveAspectRatio="none" role="img" aria-label={label}>
        <rect class="clock-ground" x="0" y="4" width="200" height="10" />
        <rect class="clock-fill" x="0" y="4" width={200 * share} height="10" />
        {expected === null ? null : <line class="clock-tick" x1={200 * expected} x2={200 * expected} y1="0" y2="18" />}
      </svg>
      <span class="nowrap">
        {shareOf(share)}
        {expected === null ? null : <span class="muted"> · {shareOf(expected)} by chance</span>}
      </span>
    </div>
  );
}

// "grows with every step" -> "Grows with every step."
function sentenceOf(words: string): string {
  return words === "" ? "" : `${words[0]!.toUpperCase()}${words.slice(1)}.`;
}

export function Clocks({ run }: { run: RunPage }) {
  if (run.clocks.length === 0) return null;
  const followed = run.clocks.find((row) => row.follows);
  const told = followed ?? run.clocks[0]!;
  const ends = run.verdict.verdict === "plateau"; // Growth that is over is no alarm.
  return (
    <Section id="clocks" title="What does growth follow?" nav="Clocks" hint="Memory that is added with every evaluation or checkpoint points at the code that runs then.">
      <p class={followed === undefined ? "clock-sentence" : "clock-sentence follows"}>{sentenceOf(told.words)}</p>
      <div class="scroll-x">
        <table class="clocks">
          <thead>
            <tr>
              <th scope="col">Clock</th>
              <th scope="col" class="right"><Num k="clocks[].events">Events</Num></th>
              <th scope="col" class="right"><Num k="clocks[].mb_per_event">Growth per event</Num></th>
              <th scope="col" class="right"><Num k="clocks[].low_mb">90 % sure</Num></th>
              <th scope="col"><Num k="clocks[].share">Share of the growth near these events</Num> (tick: by chance)</th>
            </tr>
          </thead>
          <tbody>
            {run.clocks.map((row) => (
              <tr key={row.clock} class={row.follows ? (ends ? "followed" : "growing") : ""}>
                <th scope="row">
                  {kNames[row.clock]}
                  {row.follows ? <span class={ends ? "state" : "state bad"}>{ends ? "followed this one" : "follows this one"}</span> : null}
                  {row === told || row.words === "" ? null : <div class="aside">{row.words}</div>}
                </th>
                <td class="right nowrap">
                  {count(row.events)} {kEvents[row.clock][row.events === 1 ? 0 : 1]}
                </td>
                <td class="right nowrap">{change(row.mb_per_event)}</td>
                <td class="right nowrap">{row.low_mb === null || row.high_mb === null ? "–" : `${change(row.low_mb)} to ${change(row.high_mb)}`}</td>
                <td>
                  <ShareBar row={row} ends={ends} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}
