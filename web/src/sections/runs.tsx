// SPDX-License-Identifier: Apache-2.0
// The runs that a server offers: which leak, how far they are, which are still written. Choosing
// one opens its page; choosing two puts them side by side. The list can be searched, filtered by
// verdict and sorted; by itself leaks come first.

import { useState } from "preact/hooks";
import type { Clock, Word } from "../data";
import { Sparkline } from "../flame/sparkline";
import { dateTime, moment, percent, size } from "../format";
import type { RunSummary } from "../live";
import { Num } from "../number";
import { whole } from "../said";
import { Section } from "../section";
import { SortHead, type Sorting, sortedPlaces } from "../sortable";
import { WordTag } from "../word";

export function LiveDot({ live }: { live: boolean }) {
  return <span class={live ? "dot on" : "dot"} aria-hidden="true" />;
}

const isClock = (text: string | null): text is Clock => text === "step" || text === "second" || text === "sample";

type Column = "state" | "name" | "word" | "confidence" | "memory" | "changed";
type Wanted = "all" | "live" | "unread" | "waiting" | Word;

const order: Record<Word, number> = { leak: 0, undecided: 1, warming: 2, plateau: 3 };
const rank = (run: RunSummary) => (run.word === null ? 4 : order[run.word]);
const sparkTone = (word: Word | null) => (word === "leak" ? "bad" : word === "warming" || word === "undecided" ? "warm" : "calm");

// Leaks first, then what is still written, then by name.
export function before(a: RunSummary, b: RunSummary): number {
  return rank(a) - rank(b) || Number(b.live) - Number(a.live) || a.name.localeCompare(b.name);
}

function valueOf(run: RunSummary, by: Column): number | string | null {
  if (by === "state") return Number(run.live);
  if (by === "name") return run.name;
  if (by === "word") return rank(run);
  if (by === "confidence") return run.confidence;
  return by === "memory" ? run.last_mb : run.changed_unix_s;
}

// A server with many files reads them one after the other.
const isWaiting = (run: RunSummary) => run.word === null && run.trouble === null;
const wantedOf = (run: RunSummary): Wanted => run.word ?? (isWaiting(run) ? "waiting" : "unread");

// Every word of the search stands in the name, the headline or the trouble.
export function isFound(run: RunSummary, search: string, wanted: Wanted): boolean {
  if (wanted === "live" ? !run.live : wanted !== "all" && wantedOf(run) !== wanted) return false;
  const text = `${run.name} ${run.word ?? ""} ${run.headline} ${run.trouble ?? ""}`.toLowerCase();
  return search.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

function Row(props: { run: RunSummary; chosen: boolean; choose: () => void }) {
  const { run } = props;
  return (
    <tr class={props.chosen ? "chosen" : ""}>
      <td>
        <input type="checkbox" aria-label={`Compare ${run.name}`} checked={props.chosen} disabled={run.word === null} onChange={props.choose} />
      </td>
      <td class="nowrap">
        <LiveDot live={run.live} /> {run.live ? "live" : isWaiting(run) ? "–" : "ended"}
      </td>
      <th scope="row">
        <a href={`#run=${encodeURIComponent(run.id)}`}>{run.name}</a>
      </th>
      <td>{run.word === null ? "–" : <WordTag word={run.word} />}</td>
      <td class="right nowrap">
        {run.confidence === null || run.word === "undecided" ? "–" : <Num k="confidence">{percent(run.confidence)}</Num>}
      </td>
      <td class="right nowrap">
        <Num k="last_mb">{size(run.last_mb)}</Num>
      </td>
      <td>
        <Sparkline x={run.course.x} mb={run.course.mb} tone={sparkTone(run.word)} />
      </td>
      <td class="nowrap">{isClock(run.clock) ? moment(run.clock, run.last_x) : "–"}</td>
      <td>
        <div class="words" title={run.trouble ?? undefined}>
          {isWaiting(run) ? <span class="muted">being read …</span> : whole(run.trouble ?? run.headline)}
        </div>
      </td>
      <td class="nowrap">{dateTime(run.changed_unix_s)}</td>
    </tr>
  );
}

// What two chosen runs lead to. The first one chosen is what was before.
function Compare({ runs, chosen, clear }: { runs: RunSummary[]; chosen: string[]; clear: () => void }) {
  const names = chosen.map((id) => runs.find((run) => run.id === id)?.name ?? "");
  if (chosen.length === 0) return <p class="muted">Tick two runs to put them side by side.</p>;
  return (
    <p class="compare-two" role="status">
      {chosen.length === 1 ? (
        <>
          <strong>{names[0]}</strong> is before; tick the one after.
        </>
      ) : (
        <>
          <a class="button" href={`#run=${chosen.map(encodeURIComponent).join(",")}`}>
            Compare
          </a>{" "}
          <strong>{names[0]}</strong> (before) with <strong>{names[1]}</strong> (after)
        </>
      )}{" "}
      <button type="button" onClick={clear}>
        None
      </button>
    </p>
  );
}

function Filters(props: { runs: RunSummary[]; wanted: Wanted; want: (wanted: Wanted) => void }) {
  const count = (wanted: Wanted) => props.runs.filter((run) => isFound(run, "", wanted)).length;
  const words: [Wanted, string][] = [
    ["all", "all"],
    ["leak", "leak"],
    ["undecided", "undecided"],
    ["warming", "warming"],
    ["plateau", "plateau"],
    ["unread", "unreadable"],
    ["waiting", "being read"],
    ["live", "live"],
  ];
  return (
    <span class="chart-choice" role="group" aria-label="Runs shown">
      {words
        .filter(([wanted]) => wanted === "all" || wanted === props.wanted || count(wanted) > 0)
        .map(([wanted, word]) => (
          <button key={wanted} type="button" aria-pressed={wanted === props.wanted} onClick={() => props.want(wanted)}>
            {word} {count(wanted)}
          </button>
        ))}
    </span>
  );
}

export function Runs({ runs, asked }: { runs: RunSummary[]; asked: boolean }) {
  const [search, setSearch] = useState("");
  const [wanted, want] = useState<Wanted>("all");
  const [sorting, setSorting] = useState<Sorting<Column> | null>(null);
  const [ticked, tick] = useState<string[]>([]);
  if (runs.length === 0) {
    return (
      <Section id="runs" title="Runs" first>
        <p>{asked ? "No recording here yet. The list fills by itself as soon as one appears." : "Loading the list …"}</p>
      </Section>
    );
  }
  const chosen = ticked.filter((id) => runs.some((run) => run.id === id));
  const choose = (id: string) => tick(chosen.includes(id) ? chosen.filter((other) => other !== id) : [...chosen.slice(-1), id]);
  const found = runs.filter((run) => isFound(run, search, wanted)).sort(before);
  const shown = sortedPlaces(found, sorting, valueOf).map((place) => found[place]!);
  const head = { now: sorting, set: setSorting };
  return (
    <Section id="runs" title="Runs" first hint="Leaks first. Choose a run to open its page.">
      <div class="runs-bar">
        <label class="flame-search">
          <span class="visually-hidden">Search runs</span>
          <input type="search" placeholder="Search runs" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
        </label>
        <Filters runs={runs} wanted={wanted} want={want} />
        <Compare runs={runs} chosen={chosen} clear={() => tick([])} />
      </div>
      <div class="scroll-x">
        <table class="runs">
          <thead>
            <tr>
              <th scope="col">
                <span class="visually-hidden">Compare</span>
              </th>
              <SortHead {...head} by="state" words="Sort by state" down>
                State
              </SortHead>
              <SortHead {...head} by="name" words="Sort by name">
                Run
              </SortHead>
              <SortHead {...head} by="word" words="Sort by verdict">
                Verdict
              </SortHead>
              <SortHead {...head} by="confidence" words="Sort by confidence" down class="right">
                Sure
              </SortHead>
              <SortHead {...head} by="memory" words="Sort by memory" down class="right">
                Memory
              </SortHead>
              <th scope="col">Course</th>
              <th scope="col">At</th>
              <th scope="col">Headline</th>
              <SortHead {...head} by="changed" words="Sort by time of change" down>
                Changed
              </SortHead>
            </tr>
          </thead>
          <tbody>
            {shown.map((run) => (
              <Row key={run.id} run={run} chosen={chosen.includes(run.id)} choose={() => choose(run.id)} />
            ))}
          </tbody>
        </table>
        {shown.length === 0 ? <p class="muted">No run matches.</p> : null}
      </div>
    </Section>
  );
}
