// SPDX-License-Identifier: Apache-2.0
// The page's table of contents: gets the data, then one section after the other.

import { render } from "preact";
import { App } from "./app";
import { embeddedData, isLive } from "./load";

async function start(): Promise<void> {
  const root = document.getElementById("page");
  if (root === null) return;
  render(<App data={await embeddedData()} live={isLive()} />, root);
}

void start();
