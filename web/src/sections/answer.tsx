// SPDX-License-Identifier: Apache-2.0
// The answer, on the first screen: leak or not, how sure, since when, which process, why, what to
// do, and whether it fits. The sentences are the terminal's own (run.said), so both say the same.

import type { ComponentChildren } from "preact";
import type { RunPage, Verdict } from "../data";
import { percent, processName, shortWords, size, wordMeaning } from "../format";
import { Num } from "../number";
import { Said } from "../said";
import { WordIcon } from "../word";
import { Figures } from "./figures";

// So many sentences of a kind fit the first screen; the rest stands in the sections below.
const kWhyShown = 2;
const kNextShown = 3;
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

// A sentence. Of one that stands out only the claim does, not its evidence, and of one that begins
// with a label ("Confirm:") the label.
function Sentence(props: { text: string; k: string; strong?: boolean; name?: boolean }) {
  const text = shortWords(props.text);
  const claim = props.strong === true ? (/^.*?%(?=: )/.exec(text)?.[0] ?? text) : (/^[A-Z][a-z ]{1,14}:/.exec(text)?.[0] ?? "");
  return (
    <p class={props.name === true ? undefined : "small-start"}>
      <strong>
        <Said k={props.k} text={claim} />
      </strong>
      <Said k={props.k} text={text.slice(claim.length)} />
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
      <Sentence k="steps.first" text={`${said.course.label} ${said.course.text}`} />
      {said.peaks === null ? null : <Sentence k="spikes.count" text={said.peaks} />}
    </Card>
  );
}

// Where nobody says who grew, the only process, or that the input does not tell them apart.
function Unnamed({ run }: { run: RunPage }) {
  const named = run.verdict.process === null ? null : processName(run.verdict.process);
  const only = run.processes.length === 1 ? run.processes[0] : undefined;
  const known = named ?? only?.name ?? "";
  return (
    <>
      <p>
        <strong>{known === "" ? "Not told apart" : shortWords(known)}</strong>
      </p>
      {named !== null ? null : (
        <p class="muted">{known === "" ? "The input has one figure for the whole job." : "The only process seen."}</p>
      )}
    </>
  );
}

// The program says nothing of the risk where there is none to speak of.
function fitOf(risk: Verdict["risk"]): string {
  if (risk.limit_mb === null) return "No limit is known.";
  if (risk.oom !== null && risk.oom >= 0.01) return `Out of memory before the end: ${percent(risk.oom)}.`;
  return `Yes, below the limit of ${size(risk.limit_mb)}.`;
}

function Who({ run }: { run: RunPage }) {
  const { said } = run;
  return (
    <Card title="Which process">
      {said.who === null ? <Unnamed run={run} /> : <Sentence strong name k="processes[].share" text={said.who} />}
      {said.site === null ? null : <p class="mono">{shortWords(said.site)}</p>}
      <h2>Does it fit</h2>
      <Sentence k="risk.oom" text={said.risk ?? fitOf(run.verdict.risk)} />
    </Card>
  );
}

const keyOfReason = (reason: string) => (/^(Cause|Or)\b/.test(reason) ? "causes[].weight" : "evidence[]");

function Why({ run }: { run: RunPage }) {
  const { said, verdict } = run;
  const reasons = said.why.length > 0 ? said.why : verdict.evidence;
  const tied = verdict.undecided_because;
  const shown = reasons.slice(0, tied === null ? kWhyShown : kWhyShown - 1);
  return (
    <Card title="Why">
      {tied === null ? null : <Sentence strong k="undecided_because" text={tied} />}
      {shown.map((reason, i) => (
        <Sentence key={reason} strong={i === 0 && tied === null} k={keyOfReason(reason)} text={reason} />
      ))}
      {verdict.causes.length + verdict.evidence.length > 0 ? <a class="no-print" href="#causes">All causes and evidence</a> : null}
    </Card>
  );
}

// The program tells what will happen and what to do in one breath; here what to do stands out.
function Outlook({ text }: { text: string }) {
  const [outlook = "", ...todo] = text.split(/(?<=[.!]) (?=[A-Z])/);
  return (
    <>
      <Sentence k="forecast.plateau_mb" text={outlook} />
      {todo.length === 0 ? null : <Sentence strong k="advice[].fix" text={todo.join(" ")} />}
    </>
  );
}

// Whether to wait, where there is something to wait for.
function patienceOf({ verdict, ending }: RunPage): string | null {
  if (verdict.verdict !== "undecided" && verdict.verdict !== "warming") return null;
  if (ending !== null && ending.kind !== "left") return verdict.verdict === "undecided" ? "Run it longer next time." : null;
  if ((verdict.risk.oom ?? 0) < kRiskTooHighToWait) return "Let it run on.";
  return verdict.verdict === "undecided" ? "Test it before it reaches the limit." : "Make room: it may not fit.";
}

function WhatNext({ run }: { run: RunPage }) {
  const { said, verdict } = run;
  const patience = patienceOf(run);
  const nothing = verdict.verdict === "plateau" ? "Nothing: memory is bounded." : "Look again later.";
  const [first = nothing, ...others] = said.next;
  const fix = verdict.advice[0]?.fix ?? null;
  const missing = fix !== null && verdict.verdict === "leak" && !said.next.join(" ").toLowerCase().includes(fix.toLowerCase());
  return (
    <Card title="What to do">
      {patience === null ? null : <Sentence strong k="decides_at_step" text={patience} />}
      <Outlook text={first} />
      {others.slice(0, kNextShown - 1).map((text) => (
        <Sentence key={text} k="causes[].confirm" text={text} />
      ))}
      {missing ? <Sentence k="advice[].fix" text={`Fix: ${fix}`} /> : null}
    </Card>
  );
}

function Doubt({ warnings }: { warnings: string[] }) {
  const first = warnings[0];
  if (first === undefined) return null;
  return (
    <p class="doubt">
      <strong>Note</strong> {shortWords(first)}
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
      <Doubt warnings={verdict.warnings} />
    </header>
  );
}
