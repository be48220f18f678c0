// SPDX-License-Identifier: Apache-2.0
// The served page: the list of runs, or one run that follows its recording. The run's sections stay
// mounted while new data comes in, so zoom and toggles survive an update.

import { useEffect, useState } from "preact/hooks";
import { LiveClient, type LiveView, runInHash } from "../live_client";
import { Report } from "../report";
import { LiveStatus } from "./live_status";
import { Nav } from "./nav";
import { Runs } from "./runs";

function useLive(): LiveView | null {
  const [view, setView] = useState<LiveView | null>(null);
  useEffect(() => {
    const made = new LiveClient(setView);
    setView(made.view);
    // Anchors within a run change the hash too; only "#run=..." and an empty one choose.
    const onHash = () => {
      const id = runInHash(location.hash);
      if (id !== null || location.hash === "" || location.hash === "#runs") made.select(id);
    };
    addEventListener("hashchange", onHash);
    return () => {
      removeEventListener("hashchange", onHash);
      made.close();
    };
  }, []);
  return view;
}

function useTitle(view: LiveView | null): void {
  const state = view?.state ?? null;
  const title = state === null ? "plateau" : `${(state.word ?? "?").toUpperCase()} · ${state.name}`;
  useEffect(() => {
    document.title = title;
  }, [title]);
}

export function LivePage() {
  const view = useLive();
  useTitle(view);
  if (view === null) return null;
  const status = <LiveStatus link={view.link} heard_ms={view.heard_ms} />;
  const many = view.runs.length > 1 ? <a href="#runs">All {view.runs.length} runs</a> : null;
  if (view.selected !== null && view.data !== null && view.data.runs.length > 0) {
    const tools = (
      <>
        {many}
        {view.selected.includes(",") ? null : status}
      </>
    );
    return <Report key={view.selected} data={view.data} tools={tools} />;
  }
  return (
    <>
      <Nav name="plateau" skipTo={["runs", "To the list"]}>
        {view.selected === null ? null : many}
        {status}
      </Nav>
      <main>
        {view.selected === null ? (
          <Runs runs={view.runs} asked={view.heard_ms !== null} />
        ) : (
          <p class="section">{view.trouble ?? "Waiting for the first samples of this run."}</p>
        )}
        {view.selected === null && view.trouble !== null ? <p class="section">{view.trouble}</p> : null}
      </main>
    </>
  );
}
