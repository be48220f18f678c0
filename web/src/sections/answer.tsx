// SPDX-License-Identifier: Apache-2.0
// The answer, on the first screen: leak or not, since when, which process, why, what to do.

import type { RunPage } from "../data";

export function Answer({ run }: { run: RunPage }) {
  return (
    <header class={`answer ${run.verdict.verdict}`}>
      <h1>{run.said.headline}</h1>
    </header>
  );
}
