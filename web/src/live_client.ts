// SPDX-License-Identifier: Apache-2.0
// Keeps a served page up to date (live.ts has the words). It listens to the run's events, and
// fetches the page's data when a version comes that it has not got: at most one request is under
// way, and what arrives meanwhile is fetched after it, once. A lost connection is tried again after
// 1, 2, 4, 8, then every 15 seconds, and whatever was shown stays on the page.
//
// It knows nothing of how the page is drawn: `changed` is called after every change of `view`.

import type { PageData } from "./data";
import type { LiveState, RunList, RunSummary } from "./live";

export type Link = "connecting" | "live" | "ended" | "lost";

export interface LiveView {
  runs: RunSummary[]; // What the server offers.
  selected: string | null; // The run that is shown; null: the list is.
  data: PageData | null;
  state: LiveState | null; // The last word about the selected run.
  link: Link;
  heard_ms: number | null; // When the server said something last, by Date.now().
  trouble: string | null; // A sentence, if something cannot be shown.
}

const kFirstPause = 1000;
const kLongestPause = 15_000;
const kListEvery = 5000;

// "#run=ID" in the address opens that run, "#run=A,B" two of them side by side.
export function runInHash(hash: string): string | null {
  const id = /^#run=(.+)$/.exec(hash)?.[1];
  try {
    return id === undefined ? null : decodeURIComponent(id);
  } catch {
    return null;
  }
}

// The server answers an address with the token by setting a cookie; from then on the token need not
// stand in the address, where it would be copied along with a link.
function takeToken(): string | null {
  const address = new URL(location.href);
  const token = address.searchParams.get("token");
  if (token === null || !navigator.cookieEnabled) return token;
  address.searchParams.delete("token");
  history.replaceState(null, "", address);
  return null;
}

export class LiveClient {
  view: LiveView = { runs: [], selected: null, data: null, state: null, link: "connecting", heard_ms: null, trouble: null };

  private readonly token = takeToken();
  private events: EventSource | null = null;
  private pause = kFirstPause;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private lister: ReturnType<typeof setTimeout> | undefined;
  private fetching = false;
  private have = -1; // The version of view.data. A server that was started again counts anew.
  private closed = false;

  constructor(private readonly changed: (view: LiveView) => void) {
    this.view.selected = runInHash(location.hash);
    if (this.view.selected !== null) this.listen();
    void this.list();
  }

  // Opens a run, or with null the list.
  select(id: string | null): void {
    if (id === this.view.selected) return;
    this.hangUp();
    this.have = -1;
    this.pause = kFirstPause;
    this.set({ selected: id, data: null, state: null, link: "connecting", heard_ms: null, trouble: null });
    if (id !== null) this.listen();
    void this.list();
  }

  close(): void {
    this.closed = true;
    this.hangUp();
    clearTimeout(this.lister);
  }

  private set(part: Partial<LiveView>): void {
    this.view = { ...this.view, ...part };
    if (!this.closed) this.changed(this.view);
  }

  private address(path: string, run: string | null): string {
    const query = new URLSearchParams();
    if (run !== null) query.set("run", run);
    if (this.token !== null) query.set("token", this.token);
    const text = query.toString();
    return text === "" ? path : `${path}?${text}`;
  }

  private async list(): Promise<void> {
    clearTimeout(this.lister);
    try {
      const reply = await fetch(this.address("/api/runs", null), { cache: "no-store" });
      if (!reply.ok) throw new Error(await sentenceOf(reply));
      const { runs } = (await reply.json()) as RunList;
      const only = runs.length === 1 ? runs[0] : undefined;
      const listed = this.view.selected === null;
      this.set(listed ? { runs, link: "live", heard_ms: Date.now(), trouble: null } : { runs });
      if (listed && only !== undefined) this.select(only.id);
    } catch (error) {
      if (this.view.selected === null) this.set({ link: "lost", trouble: messageOf(error) });
    }
    if (!this.closed) this.lister = setTimeout(() => void this.list(), kListEvery);
  }

  private listen(): void {
    const run = this.view.selected;
    if (run === null || this.closed) return;
    if (run.includes(",")) return void this.fetchBoth(run);
    const events = new EventSource(this.address("/events", run));
    this.events = events;
    events.addEventListener("state", (event) => {
      if (this.events === events) this.hear(JSON.parse((event as MessageEvent<string>).data) as LiveState);
    });
    events.addEventListener("error", () => {
      if (this.events === events) this.lose();
    });
  }

  private hear(state: LiveState): void {
    this.pause = kFirstPause;
    this.set({ state, link: state.live ? "live" : "ended", heard_ms: Date.now(), trouble: state.trouble });
    void this.fetchNewer();
  }

  private lose(): void {
    this.hangUp();
    this.set({ link: this.view.state?.live === false ? "ended" : "lost" });
    this.retry = setTimeout(() => this.listen(), this.pause);
    this.pause = Math.min(2 * this.pause, kLongestPause);
  }

  private hangUp(): void {
    clearTimeout(this.retry);
    this.events?.close();
    this.events = null;
  }

  // Two runs side by side stay as they were when they were asked for.
  private async fetchBoth(runs: string): Promise<void> {
    try {
      const data = await this.ask("/api/compare", runs);
      if (this.view.selected === runs) this.set({ data, link: "ended", heard_ms: Date.now(), trouble: null });
    } catch (error) {
      if (this.view.selected === runs) this.set({ link: "ended", trouble: messageOf(error) });
    }
  }

  private async ask(path: string, run: string): Promise<PageData> {
    const reply = await fetch(this.address(path, run), { cache: "no-store" });
    if (!reply.ok) throw new Error(await sentenceOf(reply));
    return (await reply.json()) as PageData;
  }

  // Fetches until what is shown is what the server last spoke of.
  private async fetchNewer(): Promise<void> {
    if (this.fetching) return;
    this.fetching = true;
    try {
      for (;;) {
        const { state, selected } = this.view;
        if (this.closed || selected === null || state === null || state.version === this.have || state.word === null) break;
        const data = await this.ask("/api/page", selected);
        if (this.view.selected !== selected) continue; // Another run was opened meanwhile.
        this.have = state.version;
        this.set({ data, trouble: null });
      }
    } catch (error) {
      // The next event asks again; a server that is gone is told by the event stream.
      if (this.view.data === null) this.set({ trouble: messageOf(error) });
    } finally {
      this.fetching = false;
    }
  }
}

async function sentenceOf(reply: Response): Promise<string> {
  const text = (await reply.text()).trim();
  return text === "" || text.startsWith("<") ? `the server answers ${reply.status}` : text;
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
