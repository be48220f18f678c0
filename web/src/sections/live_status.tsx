// SPDX-License-Identifier: Apache-2.0
// How fresh the live page is: "live · updated 2 s ago", "job ended", "connection lost, trying
// again". A screen reader hears the changes, not the seconds.

import { useEffect, useState } from "preact/hooks";
import type { Link } from "../live_client";
import { ago } from "../format";
import { LiveDot } from "./runs";

const words: Record<Link, string> = {
  connecting: "connecting",
  live: "live",
  ended: "job ended",
  lost: "connection lost, trying again",
};

export function LiveStatus({ link, heard_ms }: { link: Link; heard_ms: number | null }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <span class={`live-status is-${link}`}>
      <LiveDot live={link === "live"} />
      <span role="status">{words[link]}</span>
      {heard_ms === null || link === "ended" ? null : (
        <span class="muted"> · updated {ago(Math.max(0, Math.round((now - heard_ms) / 1000)))}</span>
      )}
    </span>
  );
}
