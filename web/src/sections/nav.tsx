// SPDX-License-Identifier: Apache-2.0
// The slim bar at the top: what is shown, anchors to the sections that are there, and the buttons.
// It reads the sections off the page after each drawing, so it never names one that has nothing to
// show.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

interface Anchor {
  id: string;
  title: string;
}

function anchorsOnPage(): Anchor[] {
  return [...document.querySelectorAll<HTMLElement>("main [data-nav]")].map((element) => ({
    id: element.id,
    title: element.dataset["nav"] ?? element.id,
  }));
}

const same = (a: Anchor[], b: Anchor[]) =>
  a.length === b.length && a.every((anchor, i) => anchor.id === b[i]?.id && anchor.title === b[i]?.title);

// The section that is read now: the last whose top has passed under the bar.
function currentId(anchors: Anchor[]): string | null {
  let found: string | null = null;
  for (const { id } of anchors) {
    const top = document.getElementById(id)?.getBoundingClientRect().top ?? Infinity;
    if (top < 120) found = id;
  }
  return found;
}

// `skipTo`: what whoever tabs along may jump to.
export function Nav(props: { name: string; skipTo?: [id: string, words: string]; children?: ComponentChildren }) {
  const [anchors, setAnchors] = useState<Anchor[]>([]);
  const [current, setCurrent] = useState<string | null>(null);
  const strip = useRef<HTMLElement>(null);
  const [target, words] = props.skipTo ?? ["answer", "To the answer"];
  useLayoutEffect(() => {
    const now = anchorsOnPage();
    if (!same(now, anchors)) setAnchors(now);
  });
  useEffect(() => {
    const onScroll = () => setCurrent(currentId(anchors));
    onScroll();
    addEventListener("scroll", onScroll, { passive: true });
    return () => removeEventListener("scroll", onScroll);
  }, [anchors]);
  // Where the strip is too narrow for all, it shows the part that is read.
  useEffect(() => {
    const link = strip.current?.querySelector<HTMLElement>("[aria-current]");
    if (strip.current !== null && link) strip.current.scrollLeft = link.offsetLeft - strip.current.offsetLeft - 40;
  }, [current]);
  return (
    <header class="bar">
      <a class="skip" href={`#${target}`}>
        {words}
      </a>
      <span class="bar-name" title={props.name}>
        {props.name}
      </span>
      <nav ref={strip} aria-label="Sections">
        {anchors.map(({ id, title }) => (
          <a key={id} href={`#${id}`} aria-current={id === current ? "true" : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <span class="bar-tools">{props.children}</span>
    </header>
  );
}
