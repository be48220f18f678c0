#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that includes follow the arrow probe -> recording -> verdict -> report.

The table below is the whole list: a room may include itself and what stands beside it; anything
else fails, and so does a second type of one name in a namespace. Prints each as file:line, and exits 1 if there is one.
"""
import pathlib
import re
import sys

MAY_INCLUDE = {
    "base": set(),
    "recording": {"base"},
    "http": {"base"},
    "symbols": {"base", "recording"},
    "heap": {"base", "recording", "tracer"},
    "ptrace": {"base"},
    "census": {"base", "recording", "symbols", "ptrace", "tracer"},
    "inject": {"base", "symbols", "ptrace", "tracer"},
    "ledger": {"base", "recording"},
    "import": {"base", "recording"},
    "probe": {"base", "recording"},
    "verdict": {"base", "recording"},
    "profile": {"base", "recording", "verdict", "words", "symbols"},
    "answer": {"base", "recording", "verdict", "profile"},
    "words": {"base", "recording", "verdict"},
    "report": {"base", "verdict", "words", "recording", "profile", "census", "ledger"},
    "page": {"base", "recording", "verdict", "words", "profile", "answer", "report"},
    "share": {"base", "recording", "verdict", "words", "report", "page"},
    "curves": {"base", "recording"},
    "tell": {"base", "recording", "curves", "probe", "verdict", "words", "report", "http"},
    "serve": {"base", "recording", "import", "verdict", "words", "answer", "report", "page"},
    "fleet": {"base", "recording", "verdict", "report", "page", "share", "serve", "http"},
    "push": {"base", "recording", "http", "probe", "verdict", "serve"},
    "session": {"base", "recording", "import", "probe", "verdict", "heap", "inject", "ledger", "census"},
    "prove": {"base", "session"},
    "plan": {"base"},
    "dataset": {"base", "plan"},
    # How any program reads its command line; text for a terminal comes from report.
    "command": {"base", "report"},
    "cli": {
        "base", "command", "recording", "import", "probe", "verdict", "words", "profile", "answer", "report", "session",
        "heap", "symbols", "census", "inject", "ledger", "page", "share", "serve", "http", "tell", "prove", "fleet", "push",
        "plan", "dataset",
    },
}
# What each room is for, in one line: docs/design.md is drawn from it (tools/draw_design.py).
JOBS = {
    "base": "words that all rooms share: `Result`, units of memory, text, files, statistics, a JSON writer",
    "recording": "the type in which rooms meet, what is known about a job, the kinds of pages; as a file: append-only, "
                 "bounded, readable after a kill at any byte",
    "fleet": "a fleet from a Prometheus-compatible database: shards, lives, workloads, a list whose false share is held",
    "http": "asks others over HTTP: one bounded client, libcurl loaded when it is first wanted",
    "import": "foreign logs → recording, recognised by content",
    "probe": "asks the system: /proc, smaps_rollup, cgroups, the tree and its roles, NVML",
    "verdict": "a recording → a verdict and its findings, kinds with numbers; a pure function",
    "words": "findings → English: one template a kind, the causes, the paragraphs of a report",
    "symbols": "names for addresses: ELF, DWARF by build id, Python lines; both merged into one stack",
    "profile": "a heap track → what grows, by call stack, Python type and tensor, with names; exports for other viewers",
    "answer": "one `Answer` to a run, from the recording and its heaps, for every verb and the page",
    "report": "answers → terminal and JSON; the live screen as a picture; formatting only",
    "page": "answers → the document behind the HTML page, and the page as one file",
    "share": "answers as files for the tools of others: a chart as SVG, Markdown, JUnit, SARIF",
    "curves": "named numbers over steps as a TensorBoard event file",
    "tell": "tells others of a job while it runs: a command, a webhook, curves for TensorBoard, W&B and MLflow; never waits",
    "serve": "recordings over HTTP: the live page, verdicts, metrics; reads files, never a process",
    "push": "sends the figures of a job to a Prometheus-compatible database while it runs, by a process and a spool of its own",
    "heap": "the recorder of heaps: a process that empties the tracer's rings and keeps a track of constant size",
    "ptrace": "another process under ptrace: one refusal, one stop, one way into its memory",
    "census": "Python objects of another process, read under a short stop",
    "inject": "calls into another process at a safe point: experiments, attaching the tracer",
    "ledger": "resident memory as a sum that adds up",
    "session": "one job under watch: starts or finds it, relays and supervises it, and makes a recording as it runs",
    "plan": "the memory of anyone's training run, predicted from a model's configuration: GPU and host, line by line",
    "dataset": "a dataset before anyone trains on it: its forms, lengths, pictures by their bytes, and what is wrong",
    "prove": "the deciding experiment: blocks of new and of repeated batches → what was proved, with the odds",
    "command": "how a program reads its command line: a verb as a table, its parser, help, output and exit code",
    "cli": "one file per verb; only here does the program exit",
}
TRAINER_JOBS = {
    "quant": "weights in four and eight bits",
    "store": "weights as files: safetensors, configurations, names of weights",
    "text": "the tokenizer, the chat template, and which tokens are learned",
    "image": "pictures: decoding, resizing, rows of patches",
    "data": "examples → batches, decoded per batch and freed",
    "plan": "the memory of a run, predicted line by line",
    "device": "where tensors are; NF4 and AdamW for the CPU and for any other device",
    "model": "Qwen2.5-VL and its adapters, on LibTorch",
    "optim": "AdamW, also in eight bits; schedules",
    "loop": "the training loop: steps, evaluations, adapters, checkpoints, resuming, several processes",
    "cli": "the verbs of `plateau-train`",
}
# Of trainer/: rooms of its own by their name, those of src/ as "src:NAME".
TRAINER_MAY_INCLUDE = {
    "quant": {"src:base"},
    "store": {"src:base", "quant"},
    "text": {"src:base"},
    "image": {"src:base"},
    "data": {"src:base", "src:dataset", "text", "image"},
    "plan": {"src:base", "store", "data", "text", "image", "quant"},
    "device": {"src:base", "quant"},
    "model": {"src:base", "store", "data", "text", "image", "quant", "device"},
    "optim": {"src:base", "model", "quant", "device"},
    "loop": {"src:base", "store", "data", "device", "model", "optim"},
    "cli": {
        "src:base", "src:recording", "src:curves", "src:verdict", "src:words", "src:report", "src:command",
        "store", "quant", "text", "image", "data", "plan", "device", "model", "optim", "loop",
    },
}
# What tests may include beyond their room's rooms: goldens are made from recorded traces.
TESTS_MAY_INCLUDE = {"report": {"import"}}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{")
TYPE = re.compile(r"^(?:struct|class|enum class) (\w+)(?: final)?(?: : [^;]*)? \{")


def twins(root: pathlib.Path) -> int:
    """Two types of one name in one namespace: where no file includes both headers the compiler is content, and the
    linker keeps one destructor, or one vector's, for both."""
    found = {}
    for path in sorted(path for top in ("src", "trainer") for path in (root / top).rglob("*.h")):
        namespace = ""
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if match := NAMESPACE.match(line):
                namespace = match.group(1)
            if (match := TYPE.match(line)) and "testing" not in path.parts:
                found.setdefault((namespace, match.group(1)), []).append(f"{path.relative_to(root)}:{number}")
    doubled = {key: places for key, places in found.items() if len(places) > 1}
    for (namespace, name), places in doubled.items():
        print(f"{places[1]}: {namespace}::{name} is another type in {places[0]}")
    return len(doubled)


def stray_in_trainer(root: pathlib.Path) -> int:
    stray = 0
    for room in sorted(p for p in (root / "trainer").iterdir() if p.is_dir()):
        if room.name == "testdata":
            continue
        allowed = TRAINER_MAY_INCLUDE.get(room.name)
        if allowed is None:
            print(f"trainer/{room.name}: a room that tools/check_layers.py does not know")
            stray += 1
            continue
        for path in sorted(room.rglob("*.[ch]*")):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                parts = match.group(1).split("/") if match else []
                if not parts or parts[0] == "clients":
                    continue
                wanted = parts[1] if parts[0] == "trainer" else f"src:{parts[0]}"
                if wanted != room.name and wanted not in allowed:
                    print(f"{path.relative_to(root)}:{number}: {room.name} may not include {match.group(1)}")
                    stray += 1
    return stray


def main() -> int:
    src = pathlib.Path(__file__).resolve().parent.parent / "src"
    stray = 0
    for room in sorted(p for p in src.iterdir() if p.is_dir()):
        if room.name not in MAY_INCLUDE:
            print(f"src/{room.name}: a room that tools/check_layers.py does not know")
            stray += 1
            continue
        allowed = MAY_INCLUDE[room.name] | {room.name}
        for path in sorted(room.rglob("*.[ch]*")):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                wanted = match.group(1).split("/")[0] if match else room.name
                if "_test." in path.name and wanted in TESTS_MAY_INCLUDE.get(room.name, set()):
                    continue
                if wanted not in allowed:
                    where = f"{path.relative_to(src.parent)}:{number}"
                    print(f"{where}: {room.name} may not include {match.group(1)}")
                    stray += 1
    stray += stray_in_trainer(src.parent) + twins(src.parent)
    return 1 if stray else 0


if __name__ == "__main__":
    sys.exit(main())
