// SPDX-License-Identifier: Apache-2.0
// Two or more runs side by side: did the fix work? The outcome is the page's headline; then each
// side's own verdict, the runs over one another, and the figures with what can be said of them.
// The sections of a single run follow below, for the run that the reader chooses.

import type { ComparisonPage, PageData, RunPage } from "../data";
import { percent } from "../format";
import { Said } from "../said";
import { Section } from "../section";
import { WordTag } from "../word";
import { ComparisonChart } from "./comparison_chart";
import { ComparisonFigures } from "./comparison_figures";

type Stamp = ComparisonPage["stamp"];

const kTones: Record<Stamp, string> = {
  BETTER: "is-plateau",
  "NO WORSE": "is-plateau",
  WORSE: "is-leak",
  UNDECIDED: "is-undecided",
};

function Sign({ stamp }: { stamp: Stamp }) {
  const lines: Record<Stamp, string> = {
    BETTER: "M12 4v15M5.5 12.5L12 19l6.5-6.5", // Memory goes down.
    "NO WORSE": "M5 9h14M5 15h14",
    WORSE: "M12 20V5M5.5 11.5L12 5l6.5 6.5",
    UNDECIDED: "M8.5 9a3.5 3.5 0 1 1 5.2 3c-1.1.7-1.7 1.3-1.7 2.6M12 18.4v.6",
  };
  return (
    <svg class="compare-sign" viewBox="0 0 24 24" aria-hidden="true">
      <path d={lines[stamp]} />
    </svg>
  );
}

function RunWords({ run, name }: { run: RunPage; name: string }) {
  return (
    <div class="side-run">
      <p class="mono" title={run.source}>{run.title === null ? name : `${name}: ${run.title}`}</p>
      <p>
        {run.said.course.label} <Said sentence={run.said.course.text} />
      </p>
      {run.said.since === null ? null : <p class="muted">{run.said.since}</p>}
    </div>
  );
}

// File names alone where they tell the runs apart, else whole paths.
function shortNames(data: PageData): string[] {
  const sources = data.runs.map((run) => run.source);
  const names = sources.map((source) => source.slice(source.lastIndexOf("/") + 1));
  return new Set(names).size === new Set(sources).size ? names : sources;
}

function Side({ data, index }: { data: PageData; index: number }) {
  const side = data.comparison!.sides[index]!;
  const runs = side.runs.map((at) => data.runs[at]).filter((run) => run !== undefined);
  const confidence = runs.length === 1 ? (runs[0]!.verdict.confidence ?? null) : null;
  return (
    <article class={`side series-${(index % 8) + 1}`} aria-label={`Side ${side.name}`}>
      <h2>
        <span class="side-name">{side.name}</span>
        <span class="muted">{index === 0 ? "before" : data.comparison!.sides.length === 2 ? "after" : "compared with A"}</span>
        <span class="side-word">
          <WordTag word={side.verdict} />
          {confidence === null || side.verdict === "undecided" ? null : <span class="muted"> {percent(confidence)}</span>}
        </span>
      </h2>
      {runs.map((run, i) => (
        <RunWords key={i} run={run} name={shortNames(data)[data.runs.indexOf(run)]!} />
      ))}
    </article>
  );
}

export function Comparison({ data }: { data: PageData }) {
  const { comparison } = data;
  if (comparison === null || comparison.sides.length < 2) return null;
  const { stamp, said } = comparison;
  return (
    <div id="comparison">
      <header id="outcome" class={`compare ${kTones[stamp]}`} data-nav="Outcome">
        <h1>
          <Sign stamp={stamp} />
          <span class="compare-stamp">{stamp[0] + stamp.slice(1).toLowerCase()}</span>
          <span class="compare-said">{said}</span>
        </h1>
        <div class="sides">
          {comparison.sides.map((side, i) => (
            <Side key={side.name} data={data} index={i} />
          ))}
        </div>
      </header>
      <ComparisonChart data={data} />
      <Section
        id="differences"
        title="What differs"
        nav="Differences"
        hint="Differences that are larger than what chance would give (99 %) and large enough to matter are marked significant."
      >
        {comparison.changes.map((change) => (
          <ComparisonFigures key={change.side} comparison={comparison} change={change} />
        ))}
      </Section>
    </div>
  );
}
