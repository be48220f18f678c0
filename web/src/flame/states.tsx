// SPDX-License-Identifier: Apache-2.0
// The word for how a call site, a type or a tensor behaves, with what it means in a sentence.

export type Tone = "bad" | "warm" | "calm";

// `unbounded` and `grown` are the words of `plateau profile` for the first two kinds.
const kMeanings: Record<string, { tone: Tone; means: string }> = {
  growing: { tone: "bad", means: "grows without an end in sight" },
  unbounded: { tone: "bad", means: "grows without an end in sight" },
  filling: { tone: "warm", means: "still grows, but towards an end" },
  grown: { tone: "calm", means: "grew, and is level now" },
  filled: { tone: "calm", means: "grew, and is level now" },
  "one-off": { tone: "calm", means: "grew once, in one step" },
  churn: { tone: "calm", means: "allocates much and gives it back" },
  spike: { tone: "calm", means: "holds much for moments only" },
  level: { tone: "calm", means: "does not grow" },
  undecided: { tone: "warm", means: "cannot be told yet" },
};

export function toneOf(state: string): Tone {
  return kMeanings[state]?.tone ?? "calm";
}

export function State({ state }: { state: string }) {
  return (
    <span class={`state ${toneOf(state)}`} title={kMeanings[state]?.means}>
      {state}
    </span>
  );
}
