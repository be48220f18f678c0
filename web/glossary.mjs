// SPDX-License-Identifier: Apache-2.0
// Reads the tables of docs/report-fields.md for the page's glossary, so that the page explains its
// numbers in the words of the handbook and not in words of its own.
//
// A table's first column names JSON keys in backquotes; "`settled.step`, `.mb`" stands for
// settled.step and settled.mb. The other columns are told apart by their headings.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const cells = (line) =>
  line
    .replace(/^\||\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.replaceAll("\\|", "|").trim());

// Links become their text; what is left may hold `code`.
const plain = (text) => text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("**", "");

function keysOf(cell) {
  const keys = [];
  let parent = "";
  for (const [, name] of cell.matchAll(/`([^`]+)`/g)) {
    if (name.startsWith(".")) {
      keys.push(parent + name);
      continue;
    }
    keys.push(name);
    if (name.includes(".")) parent = name.slice(0, name.lastIndexOf("."));
  }
  return keys;
}

function column(headings, pattern) {
  return headings.findIndex((heading) => pattern.test(heading));
}

function entryOf(row, at, taken) {
  const keys = keysOf(row[0]);
  const pick = (index) => (index > 0 ? plain(row[index] ?? "") : "");
  const slug = (keys[0] ?? pick(at.shown)).replace(/\[\]/g, "").replace(/[^A-Za-z0-9_]+/g, "-");
  let id = `g-${slug.replace(/^-|-$/g, "")}`;
  for (let n = 2; taken.has(id); n++) id = `${id.replace(/-\d+$/, "")}-${n}`;
  taken.add(id);
  return { id, keys, shown: pick(at.shown), meaning: pick(at.meaning), source: pick(at.source), blind: pick(at.blind) };
}

export function readGlossary(markdown) {
  const groups = [];
  const taken = new Set();
  let title = "";
  let at = null;
  for (const line of markdown.split("\n")) {
    if (line.startsWith("## ")) title = line.slice(3).trim();
    if (!line.startsWith("|")) {
      at = null;
      continue;
    }
    const row = cells(line);
    if (at === null) {
      at = {
        shown: column(row, /^(terminal|screen|shown as|page)$/),
        meaning: column(row, /^meaning/),
        source: column(row, /^(source|measured from|from)$/),
        blind: column(row, /^cannot see$/),
      };
      if (at.meaning > 0) groups.push({ title, entries: [] });
    } else if (at.meaning > 0 && !/^:?-+/.test(row[0])) {
      groups[groups.length - 1].entries.push(entryOf(row, at, taken));
    }
  }
  if (groups.length === 0) throw new Error("no table with a column 'meaning' in docs/report-fields.md");
  return groups;
}

// Every k="..." in the sources must have an entry: a number without an explanation is an error.
export function checkKeys(groups, sourceDirectory) {
  const known = new Set();
  for (const group of groups) {
    for (const key of group.entries.flatMap((entry) => entry.keys)) {
      known.add(key);
      for (const word of group.title.toLowerCase().split(/\W+/)) known.add(`${word}:${key}`);
    }
  }
  for (const name of readdirSync(sourceDirectory, { recursive: true })) {
    if (!name.endsWith(".tsx")) continue;
    for (const [, key] of readFileSync(join(sourceDirectory, name), "utf8").matchAll(/<(?:Num|Figure)\s[^>]*?\bk="([^"]+)"/g)) {
      if (!known.has(key)) throw new Error(`src/${name}: docs/report-fields.md does not explain "${key}"`);
    }
  }
}
