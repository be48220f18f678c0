// SPDX-License-Identifier: Apache-2.0
// How the weights of the competing explanations changed along the run. What speaks for and against
// each at the end is the table of shapes.tsx.

import { useMemo } from "preact/hooks";
import { AxisChoice, ZoomReset } from "../chart/controls";
import { useGroup } from "../chart/group";
import { Plot } from "../chart/plot";
import { type WeightPart, weightParts, weightsSpec } from "../chart/weights";
import type { RunPage } from "../data";
import { percent } from "../format";
import { Num } from "../number";
import { Section } from "../section";

export function ExplanationsChart({ run }: { run: RunPage }) {
  const { group, axis, domain } = useGroup(run);
  const parts = useMemo(() => weightParts(run), [run]);
  const spec = useMemo(() => weightsSpec(run, axis, parts, domain), [run, axis, parts, domain]);
  if (run.replay.length < 2 || parts.length === 0) return null;
  return (
    <Section
      id="explanations"
      title="How the explanations were weighed"
      nav="Weights"
      class="chart"
      hint="Every explanation is weighed against the others again as the run goes on. Green ones end by themselves, red ones do not; the line between them says how likely it is that growth ends."
    >
      <div class="chart-controls">
        <Family words="growth ends" bounded parts={parts} />
        <Family words="does not end" bounded={false} parts={parts} />
        <span class="push" />
        <ZoomReset group={group} />
        <AxisChoice run={run} group={group} />
      </div>
      <Plot spec={spec} axis={axis} group={group} />
      <ul class="weights-legend" aria-label="Weights at the end">
        {[...parts]
          .sort((a, b) => b.final - a.final)
          .map((part) => (
            <li key={part.id}>
              <i class="chart-key area" style={{ background: part.tone.css }} />
              <b>
                <Num k="explanations[].weight">{percent(part.final)}</Num>
              </b>
              <span>{part.words}</span>
            </li>
          ))}
      </ul>
    </Section>
  );
}

function Family({ words, bounded, parts }: { words: string; bounded: boolean; parts: WeightPart[] }) {
  const share = parts.reduce((sum, part) => sum + (part.bounded === bounded ? part.final : 0), 0);
  return (
    <span class="pair">
      <i class={`chart-key area ${bounded ? "bounded" : "unbounded"}`} />
      {words}{" "}
      <b>
        <Num k="explanations[].bounded">{percent(share)}</Num>
      </b>
    </span>
  );
}
