// SPDX-License-Identifier: Apache-2.0
// Growth by call stack.

import type { RunPage } from "../data";

export function FlameGraph(_props: { run: RunPage }) {
  return null;
}
