// SPDX-License-Identifier: Apache-2.0
// Explanations along the run.

import type { RunPage } from "../data";

export function ExplanationsChart(_props: { run: RunPage }) {
  return null;
}
