// SPDX-License-Identifier: Apache-2.0
// Which sections a page has, in which order. Each lives in sections/ under its own name, takes a
// RunPage (or the whole PageData) and returns null when it has nothing to show.

import type { PageData } from "./data";
import { Answer } from "./sections/answer";
import { MemoryChart } from "./sections/memory";

export function App(props: { data: PageData | null; live: boolean }) {
  const run = props.data?.runs[0];
  if (run === undefined) return <p>Nothing was recorded.</p>;
  return (
    <main>
      <Answer run={run} />
      <MemoryChart run={run} />
    </main>
  );
}
