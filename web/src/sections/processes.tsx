// SPDX-License-Identifier: Apache-2.0
// Memory by process.

import type { RunPage } from "../data";

export function ProcessesChart(_props: { run: RunPage }) {
  return null;
}
