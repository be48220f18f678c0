// SPDX-License-Identifier: Apache-2.0
// The canvas of the flame graph: draws a view, turns pointer and keys into choices of a frame.
//
// A canvas says nothing to a screen reader: the frame chosen with the arrow keys is therefore spoken
// by a live region, and the table of sites beside the picture holds the same as text.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { size } from "../format";
import { change, shareOf } from "./amounts";
import { type ColourBy, frameKind, paletteOf } from "./colour";
import { draw, hit, kRowPx, topOf, type View, visibleRows } from "./draw";
import { stepTo, type Way } from "./move";
import { amountWords } from "./neighbours";
import { watchCanvas } from "./repaint";
import type { Matches } from "./search";
import type { FrameTree, Width } from "./tree";

interface PictureProps {
  tree: FrameTree;
  names: string[];
  whole: string;
  width: Width;
  zoom: number;
  upward: boolean;
  colour: ColourBy;
  matches: Matches | null;
  selected: number | null;
  onSelect: (node: number) => void;
  onZoom: (node: number) => void; // Also selects it.
  onOut: () => boolean; // Whether there was a way out.
}

export function frameName(tree: FrameTree, names: string[], whole: string, node: number): string {
  const frame = tree.frame[node]!;
  return frame < 0 ? whole : (names[frame] ?? "?");
}

// "131 MB alive, grew by +120 MB, 92 % of the growth"
export function frameWords(tree: FrameTree, width: Width, node: number): string {
  const share = shareOf(tree.w[node]!);
  if (width === "temporary") return `${amountWords(tree.w[node]! * tree.total, width)} given back at once · ${share} of all such`;
  const grown = change(tree.growth_mb[node]!);
  const alive = width === "peak" ? "alive at the peak" : "alive";
  return `${size(tree.mb[node]!)} ${alive} · ${grown} growth · ${share} of ${width === "growth" ? "all growth" : "the heap"}`;
}

const kKeys: Record<string, [Way, Way]> = {
  // Where the key leads with the outermost call on top, and at the bottom.
  ArrowUp: ["out", "in"],
  ArrowDown: ["in", "out"],
  ArrowLeft: ["left", "left"],
  ArrowRight: ["right", "right"],
};

export function Picture(props: PictureProps) {
  const { tree, zoom, selected } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const [widthPx, setWidthPx] = useState(0);
  const [paints, setPaints] = useState(0);
  const [pointer, setPointer] = useState<{ node: number; x: number; y: number } | null>(null);
  const kinds = useMemo(() => props.names.map(frameKind), [props.names]);
  const rows = useMemo(() => visibleRows(tree, zoom, widthPx || 1000), [tree, zoom, widthPx]);
  const hovered = pointer !== null && pointer.node < tree.count ? pointer.node : null;
  const view: View = { ...props, kinds, hovered, widthPx, rows };

  useEffect(() => {
    if (box.current === null) return;
    return watchCanvas(box.current, () => {
      setWidthPx(canvas.current?.clientWidth ?? 0);
      setPaints((n) => n + 1);
    });
  }, []);

  useLayoutEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (!context || canvas.current === null || widthPx === 0) return;
    const dots = window.devicePixelRatio || 1;
    canvas.current.width = Math.round(widthPx * dots);
    canvas.current.height = Math.round(rows * kRowPx * dots);
    context.setTransform(dots, 0, 0, dots, 0, 0);
    draw(context, view, paletteOf(canvas.current));
  }, [tree, zoom, widthPx, rows, paints, hovered, selected, props.upward, props.colour, props.matches, props.names]);

  useEffect(() => {
    if (selected === null || box.current === null) return;
    const top = topOf(view, selected);
    const { scrollTop, clientHeight } = box.current;
    if (top < scrollTop) box.current.scrollTop = top;
    else if (top + kRowPx > scrollTop + clientHeight) box.current.scrollTop = top + kRowPx - clientHeight;
  }, [selected]);

  const nodeUnder = (event: MouseEvent): number | null => {
    const area = canvas.current!.getBoundingClientRect();
    return hit(view, event.clientX - area.left, event.clientY - area.top);
  };
  const onMove = (event: MouseEvent): void => {
    const node = nodeUnder(event);
    const area = box.current!.getBoundingClientRect();
    setPointer(node === null ? null : { node, x: event.clientX - area.left, y: event.clientY - area.top });
  };
  const onClick = (event: MouseEvent): void => {
    const node = nodeUnder(event);
    if (node === null) return;
    props.onZoom(node);
  };
  const onKey = (event: KeyboardEvent): void => {
    const at = selected ?? zoom;
    const ways = kKeys[event.key];
    if (ways !== undefined) {
      const least = (tree.w[zoom]! * 0.5) / Math.max(1, widthPx);
      props.onSelect(selected === null ? zoom : stepTo(tree, zoom, at, ways[props.upward ? 1 : 0], least));
    } else if (event.key === "Enter" || event.key === " ") {
      props.onZoom(at);
    } else if (event.key === "Escape" || event.key === "Backspace") {
      if (!props.onOut()) return;
    } else if (event.key === "Home") {
      props.onZoom(0);
    } else {
      return;
    }
    event.preventDefault();
  };

  return (
    <div class="flame-frame">
      <div class="flame-box" ref={box}>
        <canvas
          ref={canvas}
          class="flame-canvas"
          style={{ height: `${rows * kRowPx}px` }}
          tabIndex={0}
          role="application"
          aria-roledescription="flame graph"
          aria-label="Memory by call stack. Arrow keys move between frames, Enter zooms in, Escape zooms out. The table of call sites has the same as text."
          onMouseMove={onMove}
          onMouseLeave={() => setPointer(null)}
          onClick={onClick}
          onKeyDown={onKey}
          onFocus={() => selected === null && props.onSelect(zoom)}
        />
      </div>
      {hovered === null || pointer === null ? null : (
        <div class={`flame-tip${pointer.x > widthPx / 2 ? " to-left" : ""}`} style={{ left: `${pointer.x}px`, top: `${pointer.y}px` }}>
          <strong>{frameName(tree, props.names, props.whole, hovered)}</strong>
          <span>{frameWords(tree, props.width, hovered)}</span>
        </div>
      )}
      <p class="visually-hidden" aria-live="polite">
        {selected === null ? "" : `${frameName(tree, props.names, props.whole, selected)}: ${frameWords(tree, props.width, selected)}`}
      </p>
    </div>
  );
}
