// SPDX-License-Identifier: Apache-2.0
// Where the page's data comes from: its own body, or the server that sent it.
//
// In a report the data is gzip in base64 inside <script type="application/octet-stream"
// id="plateau-data">, which no browser runs. The browser's own DecompressionStream unpacks it, also
// for a page opened from disk.

import type { PageData } from "./data";

export function isLive(): boolean {
  return document.querySelector('meta[name="plateau-live"]') !== null;
}

export async function embeddedData(): Promise<PageData | null> {
  const holder = document.getElementById("plateau-data");
  if (holder === null) return null;
  const packed = Uint8Array.from(atob((holder.textContent ?? "").trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(stream).json()) as PageData;
}
