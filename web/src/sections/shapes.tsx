// SPDX-License-Identifier: Apache-2.0
// The explanations that competed at the end of the run, the heaviest first: does growth end under
// it, where does it lead, and what speaks for and against it. The same list as `judge --explain`.

import { useState } from "preact/hooks";
import type { Explanation, RunPage, Said as Sentences, Sentence } from "../data";
import { moment, percent, rate, size } from "../format";
import { Num } from "../number";
import { Said } from "../said";
import { Section } from "../section";

// What has less than this is shown only on demand.
const kWorthShowing = 0.01;
const kAlwaysShown = 3;
const kMostShown = 6;

function Leads({ each, run }: { each: Explanation; run: RunPage }) {
  if (each.plateau_mb !== null) {
    return (
      <>
        level near <Num k="explanations[].plateau_mb">{size(each.plateau_mb)}</Num>
        {each.ends_at_step === null ? null : (
          <>
            {" from "}
            <Num k="explanations[].ends_at_step">{moment(run.clock, each.ends_at_step)}</Num>
          </>
        )}
      </>
    );
  }
  if (each.rate_mb_per_step === 0) return <>level</>;
  return <Num k="explanations[].rate_mb_per_step">{rate(run.clock, each.rate_mb_per_step)}</Num>;
}

function Reasons({ each }: { each: Sentences["explanations"][number] }) {
  const side = (sign: string, label: string, sentences: Sentence[]) =>
    sentences.map((sentence, i) => (
      <li key={sign + i}>
        <span class="sign" aria-hidden="true">
          {sign}
        </span>
        <span class="visually-hidden">{label}: </span>
        <Said sentence={sentence} />
      </li>
    ));
  if (each.for.length + each.against.length === 0) return null;
  return (
    <ul class="reasons">
      {side("+", "for", each.for)}
      {side("−", "against", each.against)}
    </ul>
  );
}

export function Shapes({ run }: { run: RunPage }) {
  const [all, setAll] = useState(false);
  const sorted = run.verdict.explanations
    .map((each, i) => ({ ...each, said: run.said.explanations[i]! }))
    .sort((a, b) => b.weight - a.weight);
  if (sorted.length === 0) return null;
  const shown = all ? sorted : sorted.filter((each, i) => i < kAlwaysShown || (i < kMostShown && each.weight >= kWorthShowing));
  return (
    <Section
      id="shapes"
      title="Explanations that competed"
      nav="Explanations"
      hint="Shapes of growth, weighed against the data up to the last sample; the weights sum to 1."
    >
      <div class="scroll-x">
        <table class="shapes">
          <thead>
            <tr>
              <th class="right">Weight</th>
              <th>Explanation</th>
              <th>Growth</th>
              <th>Leads to</th>
              <th>For and against</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((each) => (
              <tr key={each.name}>
                <td class="right">
                  <Num k="explanations[].weight">{percent(each.weight)}</Num>
                </td>
                <th scope="row">{each.words}</th>
                <td class="nowrap">{each.bounded ? "ends" : "does not end"}</td>
                <td>
                  <Leads each={each} run={run} />
                </td>
                <td>
                  <Reasons each={each.said} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown.length === sorted.length && !all ? null : (
        <button type="button" aria-pressed={all} onClick={() => setAll(!all)}>
          {all ? "Only those with weight" : `All ${sorted.length}`}
        </button>
      )}
    </Section>
  );
}
