// SPDX-License-Identifier: Apache-2.0
// Calls back whenever a canvas must be drawn again although no data changed: its box has another
// size, the theme changed, the page goes to paper or comes back, another screen has other pixels.
// Returns how to stop that.
//
// Print styles do not hold yet when beforeprint comes, so the element gets the class "on-paper"
// meanwhile, for which detail.css has the light colours.

export function watchCanvas(element: HTMLElement, repaint: () => void): () => void {
  const stop = new AbortController();
  const on = { signal: stop.signal };
  const sizes = new ResizeObserver(repaint);
  sizes.observe(element);
  const marks = new MutationObserver(repaint);
  marks.observe(document.documentElement, { attributeFilter: ["class", "data-theme"] });
  const paper = (now: boolean) => () => {
    element.classList.toggle("on-paper", now);
    repaint();
  };
  for (const query of ["(prefers-color-scheme: dark)", "print"]) {
    matchMedia(query).addEventListener("change", repaint, on);
  }
  addEventListener("beforeprint", paper(true), on);
  addEventListener("afterprint", paper(false), on);
  addEventListener("resize", repaint, on);
  return () => {
    stop.abort();
    sizes.disconnect();
    marks.disconnect();
  };
}
