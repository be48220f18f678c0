// SPDX-License-Identifier: Apache-2.0
// One document: which sections a page has, in which order. Each lives in sections/ under its own
// name, takes a RunPage (or the whole PageData) and returns null when it has nothing to show.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { markdown } from "./copy";
import { comparisonMarkdown } from "./copy_comparison";
import type { PageData, RunPage } from "./data";
import { baseName } from "./format";
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
import { Nothing } from "./sections/nothing";
import { Objects } from "./sections/objects";
import { ProcessesChart } from "./sections/processes";
import { Ranks } from "./sections/ranks";
import { ReplayStrip } from "./sections/replay";
import { Shapes } from "./sections/shapes";
import { ProcessTree } from "./sections/tree";

const sections = [
  Answer,
  Ranks,
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
  return run.title === null ? baseName(run.source) : `${baseName(run.source)}: ${run.title}`;
}

function forAnIssue(data: PageData, run: RunPage): string {
  return data.comparison === null ? markdown(run, data.plateau) : comparisonMarkdown(data, data.comparison);
}

// Which run of a comparison the sections below are about.
function RunTabs(props: { runs: RunPage[]; shown: number; show: (index: number) => void }) {
  if (props.runs.length < 2) return null;
  return (
    <div class="run-tabs" role="group" aria-label="Run shown below">
      <span class="muted">Shown below:</span>
      {props.runs.map((run, i) => (
        <button type="button" key={i} aria-pressed={i === props.shown} title={run.source} onClick={() => props.show(i)}>
          {nameOf(run)}
        </button>
      ))}
    </div>
  );
}

// The browser looks for the address's anchor before the sections are there.
function useAnchor(): void {
  useEffect(() => {
    if (location.hash.length > 1) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }, []);
}

// `tools` stand in the bar: what the live page has to say.
export function Report({ data, tools }: { data: PageData; tools?: ComponentChildren }) {
  const [chosen, setChosen] = useState(0);
  useAnchor();
  const shown = Math.min(chosen, data.runs.length - 1);
  const run = data.runs[shown];
  if (run === undefined) return <Nothing />;
  return (
    <>
      <Nav name={data.comparison === null ? nameOf(run) : data.runs.map(nameOf).join(" / ")}>
        {tools}
        <CopyButton text={() => forAnIssue(data, run)} />
      </Nav>
      <main>
        <Comparison data={data} />
        <RunTabs runs={data.runs} shown={shown} show={setChosen} />
        {sections.map((Each, i) => (
          <Each key={`${shown} ${i}`} run={run} />
        ))}
        <Glossary />
        <footer class="muted">plateau {data.plateau}</footer>
      </main>
    </>
  );
}
