// SPDX-License-Identifier: Apache-2.0
// Memory by kind of page.

import type { RunPage } from "../data";

export function ComponentsChart(_props: { run: RunPage }) {
  return null;
}
