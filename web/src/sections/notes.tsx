// SPDX-License-Identifier: Apache-2.0
// Doubts about the data: what the verdict warns of, and what the importer or recorder could not use.

import type { RunPage } from "../data";
import { whole } from "../said";
import { Section } from "../section";

export function Notes({ run }: { run: RunPage }) {
  const notes = [...new Set([...run.verdict.warnings, ...run.notes])];
  if (notes.length === 0) return null;
  return (
    <Section id="notes" title="Notes on the data" nav="Notes">
      <ul class="evidence">
        {notes.map((note) => (
          <li key={note}>{whole(note)}</li>
        ))}
      </ul>
    </Section>
  );
}
