// SPDX-License-Identifier: Apache-2.0
// The charts' colours: custom properties of the page's style, read once per theme.
//
// A canvas cannot use var(--floor), so the values are asked for and kept until the theme changes.
// On paper the light colours below hold, whatever the screen shows: beforeprint comes before the
// style's print rules do.

// Each ink with the property that holds it (theme.css) and its light value.
const LIGHT = {
  ink: ["text", "#16202a"],
  muted: ["muted", "#52606d"],
  paper: ["surface", "#ffffff"],
  grid: ["chart-grid", "#e6eaee"],
  axis: ["chart-axis", "#52606d"],
  floor: ["chart-floor", "#0a5cad"],
  raw: ["chart-raw", "#8a97a5"],
  spike: ["chart-spike", "#a3358f"],
  forecast: ["chart-forecast", "#8a5300"],
  band: ["chart-band", "rgb(214 140 20 / 20%)"],
  limit: ["chart-limit", "#b3261e"],
  epoch: ["chart-epoch", "#5d6b78"],
  mark: ["chart-mark", "#0b6b5b"],
  bounded: ["plateau", "#0b6b5b"],
  unbounded: ["leak", "#b3261e"],
  plateau: ["plateau", "#0b6b5b"],
  warming: ["warming", "#8a5300"],
  leak: ["leak", "#b3261e"],
  undecided: ["undecided", "#4f4a8c"],
} as const;

export type Ink = keyof typeof LIGHT;

const SERIES: readonly string[] = [
  "#0a5cad",
  "#b35900",
  "#0b7a66",
  "#a3358f",
  "#6b6200",
  "#5a52b5",
  "#b3261e",
  "#5d6b78",
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
  const [held, light] = LIGHT[name];
  return property(held, light);
}

// One colour for both worlds: as style text for keys and legends, resolved for a canvas.
export interface Tone {
  css: string;
  ink(): string;
}

export function tone(name: Ink): Tone {
  return { css: `var(--${LIGHT[name][0]})`, ink: () => ink(name) };
}

// A line's colour by its place. After the eighth they come again, paler.
export function seriesTone(index: number): Tone {
  const place = index % SERIES.length;
  const own: Tone = { css: `var(--series-${place + 1})`, ink: () => property(`series-${place + 1}`, SERIES[place]!) };
  return index < SERIES.length ? own : paler(own, 0.5);
}

export function seriesInk(index: number): string {
  return seriesTone(index).ink();
}

// The same hue with this share of it left, the rest paper.
export function paler(of: Tone, share: number): Tone {
  const left = `${Math.round(share * 100)}%`;
  return {
    css: `color-mix(in srgb, ${of.css} ${left}, var(--surface))`,
    ink: () => `color-mix(in srgb, ${of.ink()} ${left}, ${ink("paper")})`,
  };
}

// The same colour, see-through: for areas and bands.
export function faded(colour: string, alpha: number): string {
  return `color-mix(in srgb, ${colour} ${Math.round(alpha * 100)}%, transparent)`;
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
