// SPDX-License-Identifier: Apache-2.0
// When did it know? The verdict that the run would have got at earlier moments.

import { useMemo } from "preact/hooks";
import { AxisChoice, Points, ZoomReset } from "../chart/controls";
import { useGroup } from "../chart/group";
import { Plot } from "../chart/plot";
import { stretches, stripSpec } from "../chart/verdict_strip";
import type { RunPage } from "../data";
import { moment, percent } from "../format";
import { Section } from "../section";

export function ReplayStrip({ run }: { run: RunPage }) {
  const { group, axis, domain } = useGroup(run);
  const spec = useMemo(() => stripSpec(run, axis, domain), [run, axis, domain]);
  if (run.replay.length < 2) return null;
  return (
    <Section id="replay" title="When did it know?" nav="Replay" hint={hintOf(run)} class="chart">
      <div class="chart-controls">
        <span class="muted">confidence in the answer at that moment</span>
        <span class="push" />
        <ZoomReset group={group} />
        <AxisChoice run={run} group={group} />
      </div>
      <Plot spec={spec} axis={axis} group={group} />
      <Points
        title="The answers as a table"
        head={["Answer", "From", "To"]}
        rows={stretches(run).map((each) => [each.word, moment(run.clock, each.from), moment(run.clock, each.to)])}
      />
    </Section>
  );
}

function hintOf(run: RunPage): string {
  const { verdict, confidence } = run.verdict;
  const judged = `The run is judged again at ${run.replay.length} earlier moments, each time with only what was known by then.`;
  if (run.knew_at === null) return `${judged} It has not decided yet.`;
  const sure = confidence === null ? "" : ` (now ${percent(confidence)})`;
  return `${judged} From ${moment(run.clock, run.knew_at)} on the answer was "${verdict}"${sure} and did not change again.`;
}
