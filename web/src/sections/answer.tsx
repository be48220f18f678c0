// SPDX-License-Identifier: Apache-2.0
// The answer, on the first screen: leak or not, how sure, since when, which process, why, what to
// do, and whether it fits. The sentences are the terminal's own (run.said), so both say the same.

import type { ComponentChildren } from "preact";
import type { RunPage } from "../data";
import { percent, processName, wordMeaning } from "../format";
import { Num } from "../number";
import { Said } from "../said";
import { WordIcon } from "../word";
import { Figures } from "./figures";

// So many sentences of a kind fit the first screen; the rest stands in the sections below.
const kWhyShown = 2;
const kNextShown = 3;

function Card(props: { title: string; class?: string; children: ComponentChildren }) {
  return (
    <div class={props.class === undefined ? "card" : `card ${props.class}`}>
      <h2>{props.title}</h2>
      {props.children}
    </div>
  );
}

function Confidence({ run }: { run: RunPage }) {
  const { confidence, verdict } = run.verdict;
  if (confidence === null || verdict === "undecided") return null;
  return (
    <span class="confidence">
      <Num k="confidence">{percent(confidence)}</Num> sure
    </span>
  );
}

function SinceWhen({ run }: { run: RunPage }) {
  const { said } = run;
  return (
    <Card title="Since when">
      {said.since === null ? null : (
        <p class="lead">
          <Num k="settled.step">{said.since}</Num>
        </p>
      )}
      <p>
        {said.course.label} <Said k="steps.first" text={said.course.text} />
      </p>
      {said.peaks === null ? null : <p class="muted"><Said k="spikes.count" text={said.peaks} /></p>}
    </Card>
  );
}

function Who({ run }: { run: RunPage }) {
  const { said, verdict } = run;
  const named = verdict.process === null ? null : processName(verdict.process);
  const alone = run.processes.length === 1 ? run.processes[0] : undefined;
  return (
    <Card title="Which process">
      <p class="lead">
        {said.who === null ? (named ?? alone?.name ?? "Not told apart") : <Said k="processes[].share" text={said.who} />}
      </p>
      {said.who === null && named === null ? (
        <p class="muted">
          {alone === undefined ? "The input has one figure for all processes." : "The only process seen."}
        </p>
      ) : null}
      {said.site === null ? null : <p class="mono">{said.site}</p>}
      <h2>Does it fit</h2>
      <p>{said.risk === null ? "No limit is near." : <Said k="risk.oom" text={said.risk} />}</p>
    </Card>
  );
}

function Why({ run }: { run: RunPage }) {
  const { said, verdict } = run;
  const reasons = said.why.length > 0 ? said.why : verdict.evidence;
  const tied = verdict.undecided_because;
  const shown = reasons.slice(0, tied === null ? kWhyShown : kWhyShown - 1);
  return (
    <Card title="Why">
      {tied === null ? null : <p class="lead"><Said k="undecided_because" text={tied} /></p>}
      {shown.map((reason, i) => (
        <p key={reason} class={i === 0 && tied === null ? "lead" : ""}>
          <Said k={reason.startsWith("Cause") || reason.startsWith("Or") ? "causes[].weight" : "evidence[]"} text={reason} />
        </p>
      ))}
      {reasons.length + verdict.causes.length > shown.length ? <a href="#causes">All evidence and causes</a> : null}
    </Card>
  );
}

function WhatNext({ run }: { run: RunPage }) {
  const { said } = run;
  const first = said.next[0];
  if (first === undefined) return <Card title="What to do">Nothing.</Card>;
  return (
    <Card title="What to do" class="next">
      {said.next.slice(0, kNextShown).map((text, i) => (
        <p key={text} class={i === 0 ? "lead" : ""}>
          <Said k="forecast.plateau_mb" text={text} />
        </p>
      ))}
    </Card>
  );
}

export function Answer({ run }: { run: RunPage }) {
  const { verdict } = run;
  return (
    <header id="answer" class={`answer is-${verdict.verdict}`} data-nav="Answer">
      <div class="banner">
        <WordIcon word={verdict.verdict} />
        <div class="banner-words">
          <h1>
            <span class="big-word">{verdict.verdict}</span>
            <span class="headline">{verdict.headline}</span>
            <Confidence run={run} />
          </h1>
          <p>{wordMeaning[verdict.verdict]}</p>
        </div>
        <Figures run={run} />
      </div>
      <div class="cards">
        <SinceWhen run={run} />
        <Who run={run} />
        <Why run={run} />
        <WhatNext run={run} />
      </div>
      {verdict.warnings.length === 0 ? null : (
        <p class="doubt">
          <strong>Note</strong> {verdict.warnings[0]}
          {verdict.warnings.length > 1 ? <a href="#notes"> and {verdict.warnings.length - 1} more</a> : null}
        </p>
      )}
    </header>
  );
}
