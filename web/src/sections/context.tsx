// SPDX-License-Identifier: Apache-2.0
// What was looked at: command, machine, file, and the facts about the job that the answer used,
// each with where it came from.

import type { ComponentChildren } from "preact";
import type { RunPage } from "../data";
import { count, dateTime, endingWords, size, span } from "../format";
import { Num } from "../number";
import { whole } from "../said";
import { Section } from "../section";

function Row(props: { name: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{props.name}</dt>
      <dd>{props.children}</dd>
    </>
  );
}

const factTitles: Record<string, string> = {
  examples: "Training set",
  batch: "Batch",
  epoch_steps: "One pass over the data",
  total_steps: "Planned length",
  limit: "Memory limit",
  rank: "Rank",
  world: "Ranks of the job",
  attempt: "Started before",
  job: "Job",
  node: "Node",
};

function factValue(value: number | string, unit: string): string {
  if (typeof value === "string") return value;
  if (unit === "MB") return size(value);
  return unit === "" ? count(value) : `${count(value)} ${unit}`;
}

function Samples({ run }: { run: RunPage }) {
  const { taken, shown, how } = run.samples;
  return (
    <>
      <Num k="samples">{count(taken)}</Num>
      {run.verdict.steps.first === null ? null : (
        <>
          {" over "}
          <Num k="steps.first">{span(run.clock, run.verdict.steps.first, run.verdict.steps.last)}</Num>
        </>
      )}
      {how === "all" ? null : (
        <>
          {"; drawn at "}
          <Num k="samples.shown">{count(shown)}</Num>
          {" instants, of each stretch the lowest and the highest value"}
        </>
      )}
    </>
  );
}

export function ContextSection({ run }: { run: RunPage }) {
  const { ending } = run;
  return (
    <Section id="context" title="Context and command" nav="Context">
      <dl class="rows">
        {run.command === null ? null : (
          <Row name="Command">
            <code class="command">{whole(run.command)}</code>
          </Row>
        )}
        <Row name="Source">
          {run.source} <span class="muted">({run.format})</span>
          {run.title === null ? null : `, ${run.title}`}
        </Row>
        {run.host === null ? null : <Row name="Host">{run.host}</Row>}
        {run.started_unix_s === null ? null : <Row name="Started">{dateTime(run.started_unix_s)}</Row>}
        {ending === null ? null : <Row name="Ended">{endingWords(ending)}</Row>}
        <Row name="Samples">
          <Samples run={run} />
        </Row>
        {run.verdict.component === null ? null : (
          <Row name="Judged">
            <Num k="component">{run.verdict.component}</Num> memory
          </Row>
        )}
      </dl>
      {run.context.length === 0 ? null : (
        <table class="facts">
          <thead>
            <tr>
              <th>Fact about the job</th>
              <th class="right">Value</th>
              <th>Known from</th>
            </tr>
          </thead>
          <tbody>
            {run.context.map((fact) => (
              <tr key={fact.name}>
                <td>{factTitles[fact.name] ?? fact.name}</td>
                <td class="right">
                  <Num k="context[].value">{factValue(fact.value, fact.unit)}</Num>
                </td>
                <td>{whole(fact.source)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Section>
  );
}
