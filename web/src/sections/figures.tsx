// SPDX-License-Identifier: Apache-2.0
// The few figures that stand beside the word: memory now, its peak, growth now, where it leads, the risk.
// Each links to its explanation.

import type { ComponentChildren } from "preact";
import { judgedLine } from "../chart/memory_spec";
import type { RunPage } from "../data";
import { hasEnded, moment, percent, rate, size } from "../format";
import { Num } from "../number";

// From here on the risk is shown in the colour of a leak.
const kAlarmingRisk = 0.2;

interface FigureProps {
  k: string;
  name: string;
  value: string;
  note?: ComponentChildren;
  alarm?: boolean;
}

function Figure(props: FigureProps) {
  return (
    <div class={props.alarm === true ? "figure alarm" : "figure"}>
      <dt>{props.name}</dt>
      <dd>
        <Num k={props.k}>{props.value}</Num>
        {props.note === undefined ? null : <small>{props.note}</small>}
      </dd>
    </div>
  );
}

// Growth that was, if it was worth the name and ended within the run.
function pastRate({ verdict, clock }: RunPage): string | undefined {
  const before = verdict.growth.rate_mb_per_step;
  const { settled } = verdict;
  if (before === null || settled === null || settled.step <= (verdict.steps.first ?? 0)) return undefined;
  const grown = before * (settled.step - (verdict.steps.first ?? 0));
  return grown > 0.01 * settled.mb ? `was ${rate(clock, before)}` : undefined;
}

// The highest sample of what is judged: what the job needed, spikes included.
function Peak({ run }: { run: RunPage }) {
  const values = judgedLine(run)?.mb ?? [];
  let place = -1;
  values.forEach((mb, i) => {
    if (mb !== null && mb > (values[place] ?? -Infinity)) place = i;
  });
  if (place < 0 || run.verdict.samples < 2) return null;
  return <Figure k="peak_mb" name="Peak" value={size(values[place])} note={`at ${moment(run.clock, run.x[place])}`} />;
}

function Growth({ run }: { run: RunPage }) {
  const now = run.verdict.current_rate_mb_per_step;
  if (now === null || run.verdict.samples < 2) return null;
  return (
    <Figure
      k="current_rate_mb_per_step"
      name="Growth now"
      value={now === 0 ? "level" : rate(run.clock, now)}
      note={now === 0 ? pastRate(run) : undefined}
    />
  );
}

function Risk({ run }: { run: RunPage }) {
  const { oom, limit_mb, at_step } = run.verdict.risk;
  if (limit_mb === null) return null;
  if (oom === null) return <Figure k="risk.limit_mb" name="Limit" value={size(limit_mb)} />;
  const note = oom >= 0.01 && at_step !== null ? `at ${moment(run.clock, at_step)}, limit ${size(limit_mb)}` : `limit ${size(limit_mb)}`;
  return <Figure k="risk.oom" name="Out of memory" value={percent(oom)} note={note} alarm={oom >= kAlarmingRisk} />;
}

// Where it ended, or where it would.
function Level({ run }: { run: RunPage }) {
  const { settled, forecast, verdict } = run.verdict;
  if (settled !== null) {
    const note = `since ${moment(run.clock, settled.step)}`;
    return <Figure k="settled.mb" name="Level" value={size(settled.mb)} note={note} />;
  }
  if (forecast === null) return null;
  return (
    <Figure
      k="forecast.plateau_mb"
      name={verdict === "warming" ? "Will level off near" : "If it ends, near"}
      value={size(forecast.plateau_mb)}
      note={forecast.at_step === null ? undefined : `at ${moment(run.clock, forecast.at_step)}`}
    />
  );
}

export function Figures({ run }: { run: RunPage }) {
  const { verdict } = run;
  return (
    <dl class="figures">
      <Figure
        k="last_mb"
        name={hasEnded(run) ? "Memory at the end" : "Memory now"}
        value={size(verdict.last_mb)}
        note={verdict.first_mb === null || verdict.samples < 2 ? undefined : `from ${size(verdict.first_mb)}`}
      />
      <Peak run={run} />
      <Growth run={run} />
      <Level run={run} />
      <Risk run={run} />
    </dl>
  );
}
