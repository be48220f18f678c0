// SPDX-License-Identifier: Apache-2.0
// When did it know.

import type { RunPage } from "../data";

export function ReplayStrip(_props: { run: RunPage }) {
  return null;
}
