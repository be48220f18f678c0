// SPDX-License-Identifier: Apache-2.0
// "Copy for an issue": puts the run or the comparison as Markdown on the clipboard. Where the browser does not let a
// page do that (a file opened from disk in some, or a refusal), the text is shown, selected, so that
// one keystroke copies it.

import { useEffect, useRef, useState } from "preact/hooks";

const kSaidFor = 4000; // Milliseconds for which "Copied" stands.

async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // No clipboard here, or not allowed: the text is shown instead.
  }
}

function ByHand(props: { text: string; close: () => void }) {
  const box = useRef<HTMLDialogElement>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    box.current?.showModal();
    area.current?.focus();
    area.current?.select();
  }, []);
  return (
    <dialog ref={box} class="by-hand" aria-label="Markdown for an issue" onClose={props.close}>
      <label>
        This page may not use the clipboard. The text is selected: press Ctrl+C (⌘C).
        <textarea ref={area} readOnly rows={18} value={props.text} />
      </label>
      <button type="button" onClick={() => box.current?.close()}>
        Close
      </button>
    </dialog>
  );
}

export function CopyButton({ text }: { text: () => string }) {
  const [state, setState] = useState<"idle" | "copied" | "by hand">("idle");
  useEffect(() => {
    if (state !== "copied") return;
    const timer = setTimeout(() => setState("idle"), kSaidFor);
    return () => clearTimeout(timer);
  }, [state]);
  const onClick = async () => {
    setState((await toClipboard(text())) ? "copied" : "by hand");
  };
  return (
    <>
      <button type="button" class="copy" onClick={() => void onClick()}>
        {state === "copied" ? "Copied ✓" : "Copy for an issue"}
      </button>
      <span class="visually-hidden" role="status">
        {state === "copied" ? "Copied to the clipboard as Markdown" : ""}
      </span>
      {state === "by hand" ? <ByHand text={text()} close={() => setState("idle")} /> : null}
    </>
  );
}
