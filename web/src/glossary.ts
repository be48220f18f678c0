// SPDX-License-Identifier: Apache-2.0
// What the numbers mean: the tables of docs/report-fields.md, put into the bundle by build.mjs.

import groups from "plateau:glossary";

export interface GlossaryEntry {
  id: string; // The anchor.
  keys: string[]; // "settled.step", "settled.mb"; none for what only the terminal shows.
  shown: string; // How the terminal shows it; may hold `code`.
  meaning: string;
  source: string;
  blind: string; // What it cannot see.
}

export interface GlossaryGroup {
  title: string;
  entries: GlossaryEntry[];
}

export const glossary: GlossaryGroup[] = groups;

// Of a key that several tables have, the first table's entry stands for it; "profile:sites[].blocks"
// asks for the table whose title holds "profile".
const byKey = new Map<string, GlossaryEntry>();
for (const group of glossary) {
  for (const entry of group.entries) {
    for (const key of entry.keys) {
      for (const name of [key, ...group.title.toLowerCase().split(/\W+/).map((w) => `${w}:${key}`)]) {
        if (!byKey.has(name)) byKey.set(name, entry);
      }
    }
  }
}

export function entryOf(key: string): GlossaryEntry | null {
  return byKey.get(key) ?? null;
}
