// SPDX-License-Identifier: Apache-2.0
// The runs that a server offers: which leak, how far they are, which are still written. Choosing
// one opens its page.

import type { RunSummary } from "../live";
import { dateTime, moment, percent, size } from "../format";
import { Num } from "../number";
import { Section } from "../section";
import { WordTag } from "../word";
import type { Clock } from "../data";

export function LiveDot({ live }: { live: boolean }) {
  return <span class={live ? "dot on" : "dot"} aria-hidden="true" />;
}

const isClock = (text: string | null): text is Clock => text === "step" || text === "second" || text === "sample";

function Row({ run }: { run: RunSummary }) {
  return (
    <tr>
      <td class="nowrap">
        <LiveDot live={run.live} /> {run.live ? "live" : "ended"}
      </td>
      <th scope="row">
        <a href={`#run=${encodeURIComponent(run.id)}`}>{run.name}</a>
      </th>
      <td>{run.word === null ? "–" : <WordTag word={run.word} />}</td>
      <td class="right">
        {run.confidence === null || run.word === "undecided" ? "–" : <Num k="confidence">{percent(run.confidence)}</Num>}
      </td>
      <td class="right nowrap">
        <Num k="last_mb">{size(run.last_mb)}</Num>
      </td>
      <td class="nowrap">{isClock(run.clock) ? moment(run.clock, run.last_x) : "–"}</td>
      <td>{run.trouble ?? run.headline}</td>
      <td class="nowrap">{dateTime(run.changed_unix_s)}</td>
    </tr>
  );
}

// Leaks first, then what is still written, then by name.
const order = { leak: 0, undecided: 1, warming: 2, plateau: 3 };
function before(a: RunSummary, b: RunSummary): number {
  const rank = (run: RunSummary) => (run.word === null ? 4 : order[run.word]);
  return rank(a) - rank(b) || Number(b.live) - Number(a.live) || a.name.localeCompare(b.name);
}

export function Runs({ runs }: { runs: RunSummary[] }) {
  if (runs.length === 0) {
    return (
      <Section id="runs" title="Runs">
        <p>No recording here yet. The list fills by itself as soon as one appears.</p>
      </Section>
    );
  }
  return (
    <Section id="runs" title="Runs" hint="Leaks first. Choose a run to open its page.">
      <div class="scroll-x">
        <table class="runs">
          <thead>
            <tr>
              <th>State</th>
              <th>Run</th>
              <th>Verdict</th>
              <th class="right">Sure</th>
              <th class="right">Memory</th>
              <th>At</th>
              <th>Headline</th>
              <th>Changed</th>
            </tr>
          </thead>
          <tbody>
            {[...runs].sort(before).map((run) => (
              <Row key={run.id} run={run} />
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}
