// SPDX-License-Identifier: Apache-2.0
// Objects and tensors by type.

import type { RunPage } from "../data";

export function Objects(_props: { run: RunPage }) {
  return null;
}
