// SPDX-License-Identifier: Apache-2.0
// Why memory grows: each cause that fits with its weight, what in the data points to it, the test
// that would confirm it and the fix; then the sentences that decided the verdict.

import type { RunPage } from "../data";
import { percent } from "../format";
import { Num } from "../number";
import { Said } from "../said";
import { Section } from "../section";

function Bar({ share }: { share: number }) {
  return (
    <span class="weight-bar" aria-hidden="true">
      <span style={{ width: `${Math.round(100 * Math.min(1, Math.max(0, share)))}%` }} />
    </span>
  );
}

function Cause({ run, index }: { run: RunPage; index: number }) {
  const cause = run.verdict.causes[index]!;
  const said = run.said.causes[index]!;
  const advice = run.verdict.advice.find((each) => each.cause === cause.name);
  return (
    <li class="cause">
      <div class="cause-head">
        <h3>{advice?.title ?? cause.name}</h3>
        <span class="cause-weight">
          <Bar share={cause.weight} />
          <Num k="causes[].weight">{percent(cause.weight)}</Num>
        </span>
      </div>
      <dl class="rows">
        {said.evidence.length === 0 ? null : (
          <>
            <dt>Evidence</dt>
            <dd>
              <Said sentence={said.evidence} />
            </dd>
          </>
        )}
        {cause.confirm === "" ? null : (
          <>
            <dt>Confirm</dt>
            <dd>{cause.confirm}</dd>
          </>
        )}
        {said.fix.length === 0 ? null : (
          <>
            <dt>Fix</dt>
            <dd>
              <Said sentence={said.fix} />
            </dd>
          </>
        )}
      </dl>
    </li>
  );
}

export function Causes({ run }: { run: RunPage }) {
  const { verdict } = run;
  if (verdict.causes.length + verdict.evidence.length === 0) return null;
  const rest = 1 - verdict.causes.reduce((sum, cause) => sum + cause.weight, 0);
  return (
    <Section
      id="causes"
      title="Causes, and how to make sure"
      nav="Causes"
      hint="What could make memory behave like this, the likeliest first. The test under Confirm proves or refutes it."
    >
      {verdict.causes.length === 0 ? null : (
        <ol class="causes">
          {verdict.causes.map((cause, i) => (
            <Cause key={cause.name} run={run} index={i} />
          ))}
        </ol>
      )}
      {verdict.causes.length > 0 && rest >= 0.005 ? (
        <p class="muted">
          Something else: <Num k="causes[].weight">{percent(rest)}</Num>.
        </p>
      ) : null}
      {run.said.evidence.length === 0 ? null : (
        <>
          <h3 class="gap">What decided, strongest first</h3>
          <ul class="evidence">
            {run.said.evidence.map((sentence, i) => (
              <li key={i}>
                <Said sentence={sentence} />
              </li>
            ))}
          </ul>
        </>
      )}
    </Section>
  );
}
