// SPDX-License-Identifier: Apache-2.0
// Two or more runs side by side.

import type { PageData } from "../data";

export function Comparison(_props: { data: PageData }) {
  return null;
}
