// SPDX-License-Identifier: Apache-2.0
// The answer, on the first screen: leak or not, how sure, since when, which process, why, what to
// do, and whether it fits. The sentences are the terminal's own (run.said), so both say the same.

import type { ComponentChildren } from "preact";
import type { Paragraph, RunPage, Sentence, Verdict } from "../data";
import { endingWords, hasEnded, percent, processName, shortSentence, shortWords, wordMeaning } from "../format";
import { Num } from "../number";
import { Said, whole } from "../said";
import { WordIcon } from "../word";
import { Figures } from "./figures";

// So many sentences of a kind fit the first screen; the rest stands in the sections below.
const kWhyShown = 2;
const kNextShown = 4;
// With a risk above this, waiting for the answer is poor advice.
const kRiskTooHighToWait = 0.5;

function Card(props: { title: string; children: ComponentChildren }) {
  return (
    <div class="card">
      <h2>{props.title}</h2>
      {props.children}
    </div>
  );
}

function Told({ sentence }: { sentence: Sentence }) {
  return (
    <p class="small-start">
      <Said sentence={shortSentence(sentence)} />
    </p>
  );
}

// Of a paragraph that stands out the claim does, not its detail; of others what leads them.
function Point({ told, strong = false }: { told: Paragraph; strong?: boolean }) {
  const claim = <Said sentence={shortSentence(told.claim)} />;
  return (
    <p class="small-start">
      <strong>
        {told.lead}
        {told.lead === "" ? "" : " "}
        {strong ? claim : null}
      </strong>
      {strong ? null : claim}
      <Said sentence={shortSentence(told.detail)} />
    </p>
  );
}

function Confidence({ verdict }: { verdict: Verdict }) {
  if (verdict.confidence === null || verdict.verdict === "undecided") return null;
  return (
    <span class="confidence">
      <Num k="confidence">{percent(verdict.confidence)}</Num> sure
    </span>
  );
}

function SinceWhen({ run }: { run: RunPage }) {
  const { said } = run;
  return (
    <Card title="Since when">
      {said.since === null ? null : (
        <p class="small-start">
          <strong>
            <Num k="since">{said.since}</Num>
          </strong>
        </p>
      )}
      <Told sentence={[`${said.course.label} `, ...said.course.text]} />
      {said.peaks.length === 0 ? null : <Told sentence={said.peaks} />}
    </Card>
  );
}

// Where nobody says who grew, the only process, or that the input does not tell them apart.
function Unnamed({ run }: { run: RunPage }) {
  const named = run.verdict.process === null ? null : processName(run.verdict.process);
  const only = run.processes.length === 1 ? run.processes[0] : undefined;
  const known = named ?? only?.name ?? "";
  const several = run.processes.length > 1;
  const why = several ? `Of ${run.processes.length} processes none is named as the one that grows.` : "The input has one figure for the whole job.";
  return (
    <>
      <p>
        <strong>{known !== "" ? shortWords(known) : several ? "No single one" : "Not known"}</strong>
      </p>
      {named !== null ? null : (
        <p class="muted">{known === "" ? why : "The only process seen."}</p>
      )}
    </>
  );
}

function Who({ run }: { run: RunPage }) {
  const { said } = run;
  return (
    <Card title="Which process">
      {said.who.length === 0 ? (
        <Unnamed run={run} />
      ) : (
        <p>
          <strong>
            <Said sentence={shortSentence(said.who)} />
          </strong>
        </p>
      )}
      {said.site === null ? null : <p class="mono">{shortWords(said.site)}</p>}
      <h2>Does it fit</h2>
      <Told sentence={said.risk.length === 0 ? ["No limit is known."] : said.risk} />
    </Card>
  );
}

// Where the other blocks of the report tell all evidence, it is told here again.
function reasonsOf({ why, evidence }: RunPage["said"]): Paragraph[] {
  if (why.length > 0) return why;
  return evidence.map((claim) => ({ role: "evidence", lead: "", claim, detail: [] }));
}

function Why({ run }: { run: RunPage }) {
  const { said, verdict } = run;
  const tied = said.undecided.length > 0;
  const shown = reasonsOf(said).slice(0, tied ? kWhyShown - 1 : kWhyShown);
  return (
    <Card title="Why">
      {tied ? (
        <p>
          <strong>
            <Said sentence={shortSentence(said.undecided)} />
          </strong>
        </p>
      ) : null}
      {shown.map((reason, i) => (
        <Point key={i} told={reason} strong={i === 0 && !tied} />
      ))}
      {verdict.causes.length + verdict.evidence.length > 0 ? <a class="no-print" href="#causes">All causes and evidence</a> : null}
    </Card>
  );
}

// Whether to wait, where there is something to wait for.
function patienceOf(run: RunPage): string | null {
  const { verdict } = run;
  if (verdict.verdict !== "undecided" && verdict.verdict !== "warming") return null;
  if (hasEnded(run)) return verdict.verdict === "undecided" ? "Run it longer next time." : null;
  if ((verdict.risk.oom ?? 0) < kRiskTooHighToWait) return "Let it run on.";
  return verdict.verdict === "undecided" ? "Test it before it reaches the limit." : "Make room: it may not fit.";
}

// What to do about a leak is said even where the cause is too uncertain for the terminal to say so.
function todoOf({ said, verdict }: RunPage): Paragraph[] {
  const shown = said.next.slice(0, kNextShown);
  const fix = said.causes[0]?.fix ?? [];
  if (verdict.verdict !== "leak" || fix.length === 0 || said.next.some(({ role }) => role === "fix")) return shown;
  return [...shown, { role: "fix", lead: "Fix:", claim: fix, detail: ["."] }];
}

function WhatNext({ run }: { run: RunPage }) {
  const patience = patienceOf(run);
  const todo = todoOf(run);
  const nothing = run.verdict.verdict === "plateau" ? "Nothing: memory is bounded." : "Look again later.";
  return (
    <Card title="What to do">
      {patience === null ? null : (
        <p>
          <strong>{patience}</strong>
        </p>
      )}
      {todo.length === 0 ? <p>{nothing}</p> : todo.map((told) => <Point key={told.role} told={told} strong={told.role === "fix"} />)}
    </Card>
  );
}

function Doubt({ warnings }: { warnings: string[] }) {
  const first = warnings[0];
  if (first === undefined) return null;
  return (
    <p class="doubt">
      <strong>Note</strong> {whole(shortWords(first))}
      {warnings.length > 1 ? (
        <>
          {" "}
          <a href="#notes">and {warnings.length - 1} more</a>
        </>
      ) : null}
    </p>
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
            <span class="big-word">{verdict.verdict}</span> <span class="headline">{verdict.headline}</span>{" "}
            <Confidence verdict={verdict} />
          </h1>
          <p>
            {wordMeaning[verdict.verdict]}
            {run.ending === null ? null : hasEnded(run) ? ` Ended: ${endingWords(run.ending)}.` : " The job still ran when watching ended."}
          </p>
        </div>
        <Figures run={run} />
      </div>
      <div class="cards">
        <SinceWhen run={run} />
        <Who run={run} />
        <Why run={run} />
        <WhatNext run={run} />
      </div>
      <Doubt warnings={verdict.warnings} />
    </header>
  );
}
