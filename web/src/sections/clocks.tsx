// SPDX-License-Identifier: Apache-2.0
// Which clock growth follows.

import type { RunPage } from "../data";

export function Clocks(_props: { run: RunPage }) {
  return null;
}
