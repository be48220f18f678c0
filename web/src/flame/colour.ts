// SPDX-License-Identifier: Apache-2.0
// The flame graph's colours, taken from the page's custom properties, so that themes and paper need
// no code: by growth (warm grew, cool shrank, grey level), or by what a frame is.

export type ColourBy = "growth" | "kind";
export type FrameKind = "python" | "native";

export interface Palette {
  grew: string[]; // From hardly to all of it.
  shrank: string[];
  level: string;
  python: string;
  native: string;
  muted: string; // Outer frames of a zoomed picture, and frames that a search did not find.
  match: string;
  text: string;
  mutedText: string;
  focus: string;
  ground: string;
}

const kShades = 6;

function parse(colour: string): [number, number, number] {
  const hex = /^#([0-9a-f]{6})$/i.exec(colour.trim());
  if (hex === null) return [128, 128, 128];
  const value = Number.parseInt(hex[1]!, 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

function mix(from: string, to: string, share: number): string {
  const a = parse(from);
  const b = parse(to);
  return `rgb(${a.map((v, i) => Math.round(v + (b[i]! - v) * share)).join(",")})`;
}

// The custom properties that detail.css sets on .flame, in the element's present theme.
export function paletteOf(element: Element): Palette {
  const style = getComputedStyle(element);
  const property = (name: string): string => style.getPropertyValue(`--flame-${name}`).trim() || "#808080";
  const level = property("level");
  const shades = (name: string): string[] =>
    Array.from({ length: kShades }, (_, i) => mix(level, property(name), (i + 1) / kShades));
  return {
    grew: shades("grew"),
    shrank: shades("shrank"),
    level,
    python: property("python"),
    native: property("native"),
    muted: property("muted"),
    match: property("match"),
    text: property("text"),
    mutedText: property("muted-text"),
    focus: property("focus"),
    ground: property("ground"),
  };
}

// "load (ImageFile.py:245)" is Python; "malloc (malloc.c:33)" and "_start [python3.11]" are native.
export function frameKind(name: string): FrameKind {
  return /\.pyx?(:\d+)?\)$/.test(name) || /\((<[^>]*>|<frozen [^)]*)(:\d+)?\)$/.test(name) ? "python" : "native";
}

// Growth below a fiftieth of what is alive is called level: sampling alone moves that much.
export function growthColour(palette: Palette, mb: number, growth_mb: number): string {
  const most = Math.max(Math.abs(mb), Math.abs(growth_mb));
  const share = most > 0 ? growth_mb / most : 0;
  if (Math.abs(share) < 0.02) return palette.level;
  const shade = Math.min(kShades - 1, Math.floor(Math.abs(share) * kShades));
  return (share > 0 ? palette.grew : palette.shrank)[shade]!;
}
