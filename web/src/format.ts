// SPDX-License-Identifier: Apache-2.0
// Numbers as the terminal writes them (src/base/units.cc, src/report/phrases.cc): three digits that
// mean something, units of 1000, the clock's own words. What is unknown is "–".

import type { Clock, ProcessId, RunPage, Sentence, Word } from "./data";

type Maybe = number | null | undefined;

const kUnknown = "–";

function threeDigits(value: number): string {
  const magnitude = Math.abs(value);
  return value.toFixed(magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2);
}

// "17.4 GB", "250 kB".
export function size(mb: Maybe): string {
  if (mb === null || mb === undefined || !Number.isFinite(mb)) return kUnknown;
  const magnitude = Math.abs(mb);
  if (magnitude >= 999.5e3) return `${threeDigits(mb / 1e6)} TB`;
  if (magnitude >= 999.5) return `${threeDigits(mb / 1e3)} GB`;
  if (magnitude >= 0.9995) return `${threeDigits(mb)} MB`;
  if (magnitude >= 0.9995e-3) return `${threeDigits(mb * 1e3)} kB`;
  return `${(mb * 1e6).toFixed(0)} B`;
}

export function signedSize(mb: Maybe): string {
  if (mb === null || mb === undefined || !Number.isFinite(mb)) return kUnknown;
  return (mb >= 0 ? "+" : "") + size(mb);
}

// "1,250"; a decimal only where it is small enough to matter.
export function count(value: Maybe): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return kUnknown;
  if (Math.abs(value) < 10 && Math.abs(value - Math.round(value)) > 0.05) return value.toFixed(1);
  const digits = String(Math.round(Math.abs(value))).replace(/\B(?=(\d{3})+$)/g, ",");
  return value < -0.5 ? `-${digits}` : digits;
}

// "1 sample", "1,250 samples": nouns whose plural ends in s.
export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}

// "87 %", "99.9 %", "> 99.9 %", "< 1 %".
export function percent(share: Maybe): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return kUnknown;
  const value = 100 * Math.min(1, Math.max(0, share));
  if (value > 99.94) return "> 99.9 %";
  if (value >= 98.95) return `${value.toFixed(1)} %`;
  if (value > 0 && value < 1) return "< 1 %";
  return `${value.toFixed(0)} %`;
}

export function duration(seconds: Maybe): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return kUnknown;
  if (seconds < 99.5) return `${Math.round(seconds) || 0} s`; // Not "-0".
  if (seconds < 99.5 * 60) return `${(seconds / 60).toFixed(0)} min`;
  if (seconds < 48 * 3600) return `${(seconds / 3600).toFixed(1)} h`;
  return `${(seconds / 86400).toFixed(1)} days`;
}

// "step 83", "12 min", "sample 40".
export function moment(clock: Clock, x: Maybe): string {
  if (x === null || x === undefined || !Number.isFinite(x)) return kUnknown;
  return clock === "second" ? duration(x) : `${clock} ${count(x)}`;
}

// "steps 10–83", "1 min to 12 min".
export function span(clock: Clock, from: Maybe, to: Maybe): string {
  if (clock === "second") return `${duration(from)} to ${duration(to)}`;
  return `${clock}s ${count(from)}–${count(to)}`;
}

// "+168 MB/step", "+1.20 GB/h": per step, or per a time that gives a plain number.
export function rate(clock: Clock, mbPerStep: Maybe): string {
  if (mbPerStep === null || mbPerStep === undefined || !Number.isFinite(mbPerStep)) return kUnknown;
  if (clock !== "second") return `${signedSize(mbPerStep)}/${clock}`;
  const magnitude = Math.abs(mbPerStep);
  if (magnitude >= 1) return `${signedSize(mbPerStep)}/s`;
  if (magnitude * 60 >= 1) return `${signedSize(mbPerStep * 60)}/min`;
  return `${signedSize(mbPerStep * 3600)}/h`;
}

// "python (pid 4242, data worker)", "process 3".
export function processName(process: ProcessId): string {
  const name = process.name ?? (process.index === undefined ? "process" : `process ${process.index}`);
  const inner = [process.pid === null ? null : `pid ${process.pid}`, process.role].filter((part) => part !== null);
  return inner.length === 0 ? name : `${name} (${inner.join(", ")})`;
}

// What each word means, for who reads it for the first time.
export const wordMeaning: Record<Word, string> = {
  plateau: "Memory is bounded: whatever growth there was has ended.",
  warming: "Memory still grows, but every likely explanation ends: no leak, and it will level off.",
  leak: "Memory grows, and no explanation by which it would stop fits.",
  undecided: "It is not known yet whether this is a leak.",
};

// How the job ended; where the recording has no words of its own for it, ours.
export function endingWords({ kind, code, text }: NonNullable<RunPage["ending"]>): string {
  if (text !== "") return text;
  if (kind === "exited") return code === 0 ? "by itself, exit code 0" : `exit code ${code}`;
  if (kind === "signaled") return `killed by signal ${code}`;
  if (kind === "oom_killed") return "killed by the kernel: out of memory";
  return kind === "left" ? "still ran when watching ended" : "vanished: how is not known";
}

// Whether the job has ended, as far as the recording knows.
export function hasEnded({ ending }: RunPage): boolean {
  return ending !== null && ending.kind !== "left";
}

// The name of a file without the way to it.
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1) || path;
}

// Words too long for a card keep their beginning and their end; the whole stands further down.
export function shortWords(text: string): string {
  return text.replace(/\S{49,}/g, (word) => `${word.slice(0, 26)}…${word.slice(-20)}`);
}

export function shortSentence(sentence: Sentence): Sentence {
  return sentence.map((part) => (typeof part === "string" ? shortWords(part) : [shortWords(part[0]), part[1]]));
}

export function plainText(sentence: Sentence): string {
  return sentence.map((part) => (typeof part === "string" ? part : part[0])).join("");
}

// "2 s ago", for the live page.
export function ago(seconds: number): string {
  return seconds < 1 ? "now" : `${duration(seconds)} ago`;
}

// "2026-11-16 12:04", in the reader's own time zone.
export function dateTime(unixSeconds: number): string {
  const date = new Date(unixSeconds * 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}
