// SPDX-License-Identifier: Apache-2.0
// A report shows the document that it carries; a served page asks the server it came from.

import type { PageData } from "./data";
import { Report } from "./report";
import { LivePage } from "./sections/live_page";
import { Nothing } from "./sections/nothing";

export function App(props: { data: PageData | null; live: boolean }) {
  if (props.live) return <LivePage />;
  return props.data === null ? <Nothing /> : <Report data={props.data} />;
}
