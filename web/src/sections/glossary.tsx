// SPDX-License-Identifier: Apache-2.0
// What the numbers mean: where every number of the page links to. Made from docs/report-fields.md.
// Tables about other commands are folded until something in them is asked for.

import { useEffect, useState } from "preact/hooks";
import { type GlossaryEntry, type GlossaryGroup, glossary } from "../glossary";
import { Section } from "../section";

// `code` in the handbook's text becomes <code>.
function Marked({ text }: { text: string }) {
  return <>{text.split("`").map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part))}</>;
}

function Entry({ entry, asked }: { entry: GlossaryEntry; asked: boolean }) {
  return (
    <tr id={entry.id} class={asked ? "asked" : undefined} tabIndex={-1}>
      <th scope="row">
        {entry.keys.length === 0 ? "–" : entry.keys.map((key) => <code key={key}>{key} </code>)}
      </th>
      <td>
        <Marked text={entry.meaning} />
        {asked ? (
          <button type="button" class="back" onClick={() => history.back()}>
            Back to the number
          </button>
        ) : null}
      </td>
      <td>
        <Marked text={entry.shown} />
      </td>
      <td>
        <Marked text={entry.source} />
      </td>
      <td>
        <Marked text={entry.blind} />
      </td>
    </tr>
  );
}

function Group({ group, asked }: { group: GlossaryGroup; asked: string }) {
  const here = group.entries.some((entry) => entry.id === asked);
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (!here) return;
    setOpen(true);
    // The entry is drawn by now or with the next frame; only then can it be scrolled to.
    requestAnimationFrame(() => {
      const row = document.getElementById(asked);
      row?.scrollIntoView({ block: "center" });
      row?.focus({ preventScroll: true });
    });
  }, [here, asked]);
  return (
    <details open={open || here} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {group.title} <span class="muted">({group.entries.length})</span>
      </summary>
      <div class="scroll-x">
        <table>
          <thead>
            <tr>
              <th>JSON key</th>
              <th>Meaning</th>
              <th>On the terminal</th>
              <th>Comes from</th>
              <th>Cannot see</th>
            </tr>
          </thead>
          <tbody>
            {group.entries.map((entry) => (
              <Entry key={entry.id} entry={entry} asked={entry.id === asked} />
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

export function Glossary() {
  const [asked, setAsked] = useState(location.hash.slice(1));
  useEffect(() => {
    const onHash = () => setAsked(location.hash.slice(1));
    addEventListener("hashchange", onHash);
    return () => removeEventListener("hashchange", onHash);
  }, []);
  return (
    <Section
      id="glossary"
      class="glossary"
      title="What the numbers mean"
      nav="Meaning"
      hint="Sizes are MB of 1,000,000 bytes. “Step” is the run's clock: optimizer steps if they are known, else seconds, else samples. Intervals hold 90 %. Underlined numbers on this page lead here."
    >
      {glossary.map((group) => (
        <Group key={group.title} group={group} asked={asked} />
      ))}
    </Section>
  );
}
