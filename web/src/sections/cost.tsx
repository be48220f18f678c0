// SPDX-License-Identifier: Apache-2.0
// What watching cost the job: a measuring tool has to say what it took itself.

import type { RunPage } from "../data";
import { Num } from "../number";
import { Section } from "../section";

function share(percent: number): string {
  if (percent === 0) return "0 %";
  return percent < 0.01 ? "< 0.01 %" : `${percent.toPrecision(2)} %`;
}

export function Cost({ run }: { run: RunPage }) {
  const { cost } = run;
  if (cost === null) return null;
  return (
    <Section id="cost" title="The tool's own cost" nav="Cost">
      <p>{cost.words}</p>
      <dl class="rows">
        {cost.cpu_percent === null ? null : (
          <>
            <dt>CPU</dt>
            <dd>
              <Num k="cost.watcher_cpu_percent">{share(cost.cpu_percent)}</Num> of one core
            </dd>
          </>
        )}
        {cost.walk_percent === null ? null : (
          <>
            <dt>Walks</dt>
            <dd>
              <Num k="cost.walk_percent">{share(cost.walk_percent)}</Num> of a process's life under page-table walks, at most
            </dd>
          </>
        )}
      </dl>
    </Section>
  );
}
