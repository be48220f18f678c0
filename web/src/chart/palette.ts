// SPDX-License-Identifier: Apache-2.0
// The charts' colours: custom properties of the page's style, read once per theme.
//
// A canvas cannot use var(--floor), so the values are asked for and kept until the theme changes.
// On paper the light colours below hold, whatever the screen shows: beforeprint comes before the
// style's print rules do.

export type Ink =
  | "ink" | "muted" | "grid" | "paper" | "floor" | "raw" | "spike" | "forecast" | "limit"
  | "bounded" | "unbounded" | "plateau" | "warming" | "leak" | "undecided" | "mark";

const LIGHT: Record<Ink, string> = {
  ink: "#1c2128",
  muted: "#57606a",
  grid: "#e4e8ec",
  paper: "#ffffff",
  floor: "#1f5fbf",
  raw: "#8fb0dc",
  spike: "#a33ea1",
  forecast: "#8a6d00",
  limit: "#b3261e",
  bounded: "#1a7f5a",
  unbounded: "#c2410c",
  plateau: "#1a7f37",
  warming: "#0b7285",
  leak: "#b3261e",
  undecided: "#8a6100",
  mark: "#57606a",
};

const SERIES: readonly string[] = [
  "#1f5fbf", "#d97706", "#1a7f5a", "#a33ea1", "#b3261e", "#0b8494", "#7a5c00", "#5b5bd6", "#be185d", "#4d7c0f",
];

let printing = false;
let known = new Map<string, string>();
const watchers = new Set<() => void>();

function property(name: string, fallback: string): string {
  if (printing) return fallback;
  let value = known.get(name);
  if (value === undefined) {
    value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim() || fallback;
    known.set(name, value);
  }
  return value;
}

export function ink(name: Ink): string {
  return property(name, LIGHT[name]);
}

// A line's colour by its place; the tenth is followed by the first.
export function seriesInk(index: number): string {
  const place = index % SERIES.length;
  return property(`series-${place + 1}`, SERIES[place]!);
}

// The same colour, see-through: for areas and bands.
export function faded(colour: string, alpha: number): string {
  return `color-mix(in srgb, ${colour} ${Math.round(alpha * 100)}%, transparent)`;
}

// Shades of one colour for things of one family: 0 is the colour itself.
export function shade(colour: string, index: number, count: number): string {
  const share = count < 2 ? 1 : 1 - (0.62 * index) / (count - 1);
  return `color-mix(in srgb, ${colour} ${Math.round(share * 100)}%, ${ink("paper")})`;
}

export function isPrinting(): boolean {
  return printing;
}

function changed(): void {
  known = new Map();
  for (const watcher of watchers) watcher();
}

// Calls back whenever colours may have changed; returns how to stop that.
export function watchTheme(watcher: () => void): () => void {
  if (watchers.size === 0) listen();
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

let listening = false;
function listen(): void {
  if (listening) return;
  listening = true;
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  const print = (now: boolean) => {
    if (printing === now) return;
    printing = now;
    changed();
  };
  matchMedia("print").addEventListener("change", (event) => print(event.matches));
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  // A switch on the page marks the root element.
  new MutationObserver(changed).observe(document.documentElement, { attributeFilter: ["class", "data-theme"] });
}
