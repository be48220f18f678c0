// SPDX-License-Identifier: Apache-2.0
// The competing explanations: how their weights changed along the run, and what speaks for and
// against each.

import { useMemo } from "preact/hooks";
import { AxisChoice, ZoomReset } from "../chart/controls";
import { useGroup } from "../chart/group";
import { Plot } from "../chart/plot";
import { weightParts, weightsSpec } from "../chart/weights";
import type { Explanation, RunPage } from "../data";
import { moment, percent, rate, size } from "../format";
import { Num } from "../number";
import { Section } from "../section";

const WORTH_LISTING = 0.005;

export function ExplanationsChart({ run }: { run: RunPage }) {
  const { group, axis } = useGroup(run);
  const parts = useMemo(() => weightParts(run), [run]);
  const spec = useMemo(() => {
    const [first, last] = [run.x[0] ?? 0, run.x[run.x.length - 1] ?? 1].map(axis.place);
    return weightsSpec(run, axis, parts, last! > first! ? [first!, last!] : [first! - 0.5, first! + 0.5]);
  }, [run, axis, parts]);
  const { explanations } = run.verdict;
  if (explanations.length === 0 && run.replay.length < 2) return null;
  const sorted = [...explanations].sort((a, b) => b.weight - a.weight);
  const listed = sorted.filter((each) => each.weight >= WORTH_LISTING);
  const ruledOut = sorted.filter((each) => each.weight < WORTH_LISTING);
  const toneOf = (name: string) => parts.find((part) => part.id === name)?.tone.css;
  return (
    <Section id="explanations" title="Competing explanations" nav="Explanations" class="chart"
      hint="Every explanation of the growth is weighed against the others, again and again as the run goes on. Green ones end by themselves, red ones do not.">
      {run.replay.length > 1 && (
        <>
          <div class="chart-controls">
            <span class="pair"><i class="chart-key area bounded" />growth ends <b>{percent(share(explanations, true))}</b></span>
            <span class="pair"><i class="chart-key area unbounded" />does not end <b>{percent(share(explanations, false))}</b></span>
            <span class="push" />
            <ZoomReset group={group} />
            <AxisChoice run={run} group={group} />
          </div>
          <Plot spec={spec} axis={axis} group={group} />
        </>
      )}
      <div class="explanations">
        {listed.map((each, i) => <One key={each.name} open={i === 0} each={each} run={run} colour={toneOf(each.name)} />)}
      </div>
      {ruledOut.length > 0 && (
        <details class="chart-points">
          <summary>{ruledOut.length} more, each below 0.5 %</summary>
          <div class="explanations">{ruledOut.map((each) => <One key={each.name} each={each} run={run} colour={toneOf(each.name)} />)}</div>
        </details>
      )}
    </Section>
  );
}

function share(explanations: Explanation[], bounded: boolean): number {
  return explanations.reduce((sum, each) => sum + (each.bounded === bounded ? each.weight : 0), 0);
}

function One({ each, run, colour, open }: { each: Explanation; run: RunPage; colour: string | undefined; open?: boolean }) {
  const family = each.bounded ? "bounded" : "unbounded";
  return (
    <details class="explanation" open={open === true}>
      <summary>
        <i class={`chart-key area ${family}`} style={colour === undefined ? {} : { background: colour }} />
        <b class="weight">{percent(each.weight)}</b>
        <span class="share-bar"><i class={family} style={{ width: `${100 * Math.min(1, each.weight)}%` }} /></span>
        <span class="words">{each.words}</span>
        <span class="muted outlook">{outlook(each, run)}</span>
      </summary>
      <ul>
        {each.for.map((text) => <li key={text} class="for"><b>for</b> {text}</li>)}
        {each.against.map((text) => <li key={text} class="against"><b>against</b> {text}</li>)}
        {each.for.length + each.against.length === 0 && <li class="muted">Nothing in the run speaks for or against it in particular.</li>}
        <li class="muted">
          weight <Num k="explanations[].weight">{percent(each.weight)}</Num>,{" "}
          <Num k={each.bounded ? "explanations[].plateau_mb" : "explanations[].rate_mb_per_step"}>{outlook(each, run)}</Num>
        </li>
      </ul>
    </details>
  );
}

// Where it leads, if it is right.
function outlook(each: Explanation, run: RunPage): string {
  if (!each.bounded) return each.rate_mb_per_step > 0 ? `does not end: ${rate(run.clock, each.rate_mb_per_step)}` : "does not end";
  if (each.plateau_mb === null) return "ends";
  const when = each.ends_at_step === null ? "" : ` from ${moment(run.clock, each.ends_at_step)}`;
  return `level near ${size(each.plateau_mb)}${when}`;
}
