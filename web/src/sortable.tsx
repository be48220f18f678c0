// SPDX-License-Identifier: Apache-2.0
// Tables that the reader puts into another order: a button beside each column's title, which sorts by
// it, turns the order round, and gives the table's own order back.

import type { ComponentChildren } from "preact";

export interface Sorting<Key extends string> {
  by: Key;
  down: boolean; // The largest first.
}

interface SortHeadProps<Key extends string> {
  by: Key;
  now: Sorting<Key> | null; // null: the table's own order.
  set(next: Sorting<Key> | null): void;
  words: string; // "Sort by memory"
  down?: boolean; // Which way round comes first; figures are asked for by the largest.
  class?: string;
  children: ComponentChildren;
}

export function SortHead<Key extends string>(props: SortHeadProps<Key>) {
  const { by, now, set } = props;
  const first = props.down ?? false;
  const mine = now?.by === by;
  const next = !mine ? { by, down: first } : now.down === first ? { by, down: !first } : null;
  const sign = !mine ? "↕" : now.down ? "↓" : "↑";
  return (
    <th scope="col" class={props.class} aria-sort={!mine ? undefined : now.down ? "descending" : "ascending"}>
      {props.children}{" "}
      <button type="button" class="sort" aria-label={props.words} title={props.words} onClick={() => set(next)}>
        {sign}
      </button>
    </th>
  );
}

// The places of the items in the order that was asked for; what has no value comes last, either way.
export function sortedPlaces<Item, Key extends string>(
  items: readonly Item[],
  sorting: Sorting<Key> | null,
  value: (item: Item, by: Key) => number | string | null,
): number[] {
  const places = items.map((_, i) => i);
  if (sorting === null) return places;
  const values = items.map((item) => value(item, sorting.by));
  return places.sort((a, b) => {
    const [one, other] = [values[a]!, values[b]!];
    if (one === null || other === null) return Number(one === null) - Number(other === null) || a - b;
    const order = typeof one === "string" ? one.localeCompare(String(other)) : one - Number(other);
    return (sorting.down ? -order : order) || a - b;
  });
}
