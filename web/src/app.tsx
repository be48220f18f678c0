// SPDX-License-Identifier: Apache-2.0
// Which sections a page has, in which order. Each lives in sections/ under its own name, takes a
// RunPage (or the whole PageData) and returns null when it has nothing to show.

import { useState } from "preact/hooks";
import type { PageData, RunPage } from "./data";
import { Answer } from "./sections/answer";
import { Causes } from "./sections/causes";
import { Clocks } from "./sections/clocks";
import { Comparison } from "./sections/comparison";
import { ComponentsChart } from "./sections/components";
import { ContextSection } from "./sections/context";
import { CopyButton } from "./sections/copy_button";
import { Cost } from "./sections/cost";
import { ExplanationsChart } from "./sections/explanations";
import { FlameGraph } from "./sections/flame";
import { Glossary } from "./sections/glossary";
import { MemoryChart } from "./sections/memory";
import { Nav } from "./sections/nav";
import { Notes } from "./sections/notes";
import { Objects } from "./sections/objects";
import { ProcessesChart } from "./sections/processes";
import { ReplayStrip } from "./sections/replay";
import { Shapes } from "./sections/shapes";
import { ProcessTree } from "./sections/tree";

const sections = [
  Answer,
  MemoryChart,
  ComponentsChart,
  ProcessesChart,
  Shapes,
  ExplanationsChart,
  ReplayStrip,
  Causes,
  ProcessTree,
  Clocks,
  FlameGraph,
  Objects,
  ContextSection,
  Cost,
  Notes,
];

function nameOf(run: RunPage): string {
  return run.title === null ? run.source : `${run.source}: ${run.title}`;
}

export function Report({ data }: { data: PageData }) {
  const [shown, setShown] = useState(0);
  const run = data.runs[Math.min(shown, data.runs.length - 1)];
  if (run === undefined) return <p>Nothing was recorded.</p>;
  return (
    <>
      <Nav name={nameOf(run)}>
        <CopyButton run={run} version={data.plateau} />
      </Nav>
      <main>
        <Comparison data={data} />
        {data.runs.length < 2 ? null : (
          <div role="group" aria-label="Run shown">
            {data.runs.map((each, i) => (
              <button type="button" key={i} aria-pressed={i === shown} onClick={() => setShown(i)}>
                {nameOf(each)}
              </button>
            ))}
          </div>
        )}
        {sections.map((Each, i) => (
          <Each key={`${shown} ${i}`} run={run} />
        ))}
        <Glossary />
      </main>
    </>
  );
}

export function App(props: { data: PageData | null; live: boolean }) {
  if (props.data === null) return <p>Nothing was recorded.</p>;
  return <Report data={props.data} />;
}
