// SPDX-License-Identifier: Apache-2.0
// A number that links to what it means: <Num k="settled.step">83</Num>. `k` is a key of
// docs/report-fields.md, from which the glossary at the page's end is made; the build fails if a
// key written here is not in that file.

import type { ComponentChildren } from "preact";
import { entryOf } from "./glossary";

export function Num(props: { k: string; children: ComponentChildren }) {
  const entry = entryOf(props.k);
  // A short number stays on one line.
  const short = typeof props.children === "string" && props.children.length <= 24;
  if (entry === null) return <span>{props.children}</span>;
  return (
    <a class={short ? "num short" : "num"} href={`#${entry.id}`} title={entry.meaning.replaceAll("`", "")}>
      {props.children}
    </a>
  );
}
