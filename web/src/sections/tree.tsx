// SPDX-License-Identifier: Apache-2.0
// The process tree.

import type { RunPage } from "../data";

export function ProcessTree(_props: { run: RunPage }) {
  return null;
}
