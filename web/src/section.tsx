// SPDX-License-Identifier: Apache-2.0
// The frame around every section: a card with a title, one line that says how to read it, and an
// anchor. The navigation finds its entries by the data-nav attribute, so a section that has nothing
// to show and returns null is not offered there.

import type { ComponentChildren } from "preact";

interface SectionProps {
  id: string; // The anchor; "memory" for #memory.
  title: string;
  nav?: string; // A shorter title for the navigation.
  hint?: ComponentChildren; // How to read it, in one sentence.
  class?: string;
  first?: boolean; // Its title is that of the page.
  children: ComponentChildren;
}

export function Section(props: SectionProps) {
  const Title = props.first === true ? "h1" : "h2";
  return (
    <section
      id={props.id}
      class={props.class === undefined ? "section" : `section ${props.class}`}
      aria-labelledby={`${props.id}-title`}
      data-nav={props.nav ?? props.title}
    >
      <Title id={`${props.id}-title`}>{props.title}</Title>
      {props.hint === undefined ? null : <p class="hint">{props.hint}</p>}
      {props.children}
    </section>
  );
}
