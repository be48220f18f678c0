// SPDX-License-Identifier: Apache-2.0
// A job of many ranks: one small chart for each, all on the same scales, the odd ones first to the
// eye by a sign, a border and a word; below, each node against its limit.

import type { JobPage, NodePage, RankPage, RunPage } from "../data";
import { count, moment, percent, rate, size } from "../format";
import { Num } from "../number";
import { Section } from "../section";
import { WordTag } from "../word";

const kWidth = 200;
const kHeight = 64;
const kMostCharts = 256;

interface Scales {
  x: (at: number) => number;
  y: (mb: number) => number;
}

// The same scales for all, from zero: a level rank looks level beside one that grows.
function scalesOf(x: number[], lines: (number | null)[][]): Scales {
  const first = x[0] ?? 0;
  const last = x[x.length - 1] ?? 1;
  let top = 1;
  for (const line of lines) for (const mb of line) if (mb !== null && mb > top) top = mb;
  const width = last > first ? last - first : 1;
  return {
    x: (at) => ((at - first) / width) * kWidth,
    y: (mb) => kHeight - 2 - (mb / top) * (kHeight - 6),
  };
}

// A line ends where its rank does: from one life to the next nothing was released.
function pathOf(x: number[], mb: (number | null)[], scales: Scales, ends: number[]): string {
  let path = "";
  let drawing = false;
  let before = Number.NEGATIVE_INFINITY;
  mb.forEach((value, i) => {
    const at = x[i];
    if (value === null || at === undefined) {
      drawing = false;
      return;
    }
    const last = before;
    if (ends.some((end) => end > last && end <= at)) drawing = false;
    before = at;
    path += `${drawing ? "L" : "M"}${scales.x(at).toFixed(1)} ${scales.y(value).toFixed(1)}`;
    drawing = true;
  });
  return path;
}

function stateOf(rank: RankPage): string {
  if (rank.saves) return "grows at its checkpoints only";
  const word = rank.verdict === "leak" ? "leaks" : rank.verdict === "undecided" ? "undecided" : "level";
  return rank.confidence === null ? word : `${word}, ${percent(rank.confidence)}`;
}

function Small(props: { run: RunPage; rank: RankPage; mb: (number | null)[]; x: number[]; scales: Scales }) {
  const { run, rank, scales } = props;
  const words = `Rank ${rank.rank}${rank.node === null ? "" : ` on ${rank.node}`}: ${stateOf(rank)}, ${size(rank.first_mb)} to ${size(rank.last_mb)}.`;
  const restarts = rank.lives > 1 ? run.marks.filter((mark) => mark.kind === "restart").map((mark) => mark.x) : [];
  return (
    <figure class={rank.odd ? "rank odd" : rank.saves ? "rank saves" : "rank"}>
      <figcaption>
        <b>rank {count(rank.rank)}</b>
        {rank.node === null ? null : <span class="muted rank-node">{rank.node}</span>}
        <WordTag word={rank.verdict} />
      </figcaption>
      <svg viewBox={`0 0 ${kWidth} ${kHeight}`} role="img" aria-label={words} preserveAspectRatio="none">
        {restarts.map((at) => (
          <line key={at} class="restart" x1={scales.x(at)} x2={scales.x(at)} y1={0} y2={kHeight} />
        ))}
        <path class="base" d={`M0 ${kHeight - 1}H${kWidth}`} />
        <path class="curve" d={pathOf(props.x, props.mb, scales, restarts)} />
      </svg>
      <p class="rank-figures">
        {size(rank.first_mb)} → {size(rank.last_mb)}
        {rank.odd || rank.saves ? <Num k="job.ranks[].rate_mb_per_step">{rate(run.clock, rank.rate_mb_per_step)}</Num> : null}
      </p>
      {rank.saves ? <p class="rank-note">grows at its checkpoints: told apart</p> : null}
      {rank.lives > 1 ? (
        <p class="rank-note">
          <Num k="job.ranks[].lives">started {count(rank.lives)} times</Num>
        </p>
      ) : null}
      {rank.ended_step === null ? null : (
        <p class="rank-note">
          ended at <Num k="job.ranks[].ended_step">{moment(run.clock, rank.ended_step)}</Num>
        </p>
      )}
    </figure>
  );
}

function NodeRow({ run, node }: { run: RunPage; node: NodePage }) {
  const limit = node.risk.limit_mb;
  const share = limit === null ? null : node.last_mb / limit;
  return (
    <tr>
      <td>{node.name ?? "–"}</td>
      <td class="right">{count(node.ranks)}</td>
      <td>
        <WordTag word={node.verdict} />
      </td>
      <td class="right">
        <Num k="job.nodes[].last_mb">{size(node.last_mb)}</Num>
      </td>
      <td class="right">{limit === null ? "not known" : `${size(limit)} (${percent(share)})`}</td>
      <td>{node.risk.at_step === null ? "–" : moment(run.clock, node.risk.at_step)}</td>
    </tr>
  );
}

// Where there are very many, those that are not level, then the first of the others.
function chosen(job: JobPage): number[] {
  const all = job.ranks.map((_, i) => i);
  if (all.length <= kMostCharts) return all;
  const worth = (i: number) => (job.ranks[i]?.odd || job.ranks[i]?.saves || job.ranks[i]?.verdict === "undecided" ? 0 : 1);
  return all.sort((a, b) => worth(a) - worth(b) || a - b).slice(0, kMostCharts);
}

// The sentences of the evidence that speak of ranks and nodes.
const kSaid = new Set(["series-odd", "series-apart", "ranks-all-leak", "ranks-of-node-leak", "rank-saves", "node-fills-first"]);

function said(run: RunPage): string[] {
  return run.verdict.evidence.filter((_, i) => kSaid.has(run.verdict.facts?.evidence[i]?.kind ?? ""));
}

export function Ranks({ run }: { run: RunPage }) {
  const job = run.verdict.job;
  if (job === undefined || job === null || run.ranks === null || run.ranks === undefined) return null;
  const { x, mb } = run.ranks;
  const scales = scalesOf(x, mb);
  const shown = chosen(job);
  const left = job.ranks.length - shown.length;
  return (
    <Section
      id="ranks"
      title="By rank"
      nav="Ranks"
      class="ranks"
      hint={`What each of ${count(job.ranks.length)} ranks${job.world === null || job.world === job.ranks.length ? "" : ` (of ${count(job.world)})`} owns, side by side by ${run.clock === "step" ? "steps" : "time since its start"}, all on one scale from zero.${left > 0 ? ` ${count(left)} more that are level are not drawn.` : ""}`}
    >
      {said(run).map((sentence, i) => (
        <p key={i} class="rank-said">
          {sentence}
        </p>
      ))}
      <div class="rank-grid">
        {shown.map((i) => {
          const rank = job.ranks[i];
          return rank === undefined ? null : <Small key={rank.rank} run={run} rank={rank} mb={mb[i] ?? []} x={x} scales={scales} />;
        })}
      </div>
      <table class="facts">
        <thead>
          <tr>
            <th>Node</th>
            <th class="right">Ranks</th>
            <th>Verdict</th>
            <th class="right">Held at the end</th>
            <th class="right">Limit</th>
            <th>Full at</th>
          </tr>
        </thead>
        <tbody>
          {job.nodes.map((node, i) => (
            <NodeRow key={i} run={run} node={node} />
          ))}
        </tbody>
      </table>
    </Section>
  );
}
