#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records memory traces of real programs whose truth is known by construction.

A workload prints `STEP n [event]` at each step end and waits for one line of answer, so that the
sample is taken exactly there; what is measured is the whole process tree, from outside, through
/proc. A driver of a server prints `WATCH pid` first, and then the server's tree is measured
instead of the driver's. At its end a workload prints `DONE key=value ...`: what it leaked by its
own count, and the step at which its growth ended by construction.

    record.py --list            names of all traces, with folder and label
    record.py NAME...           records these (a kind without number records all of that kind)
    record.py --all             records all
    record.py --missing         records those that have no file yet

Each trace is written to corpus/own or corpus/heldout (chosen by a hash of the name), with its
entry in that folder's labels.json. Needs Linux, root or the same user, and g++ for the C++ ones.
"""
import argparse
import csv
import gzip
import hashlib
import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from catalogue import TRACES

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = HERE.parent
COLUMNS = ("t_s step epoch event proc parent rss_mb pss_mb uss_mb anon_mb file_mb shmem_mb "
           "swap_mb threads").split()
# A run that hangs is stopped; the longest honest one takes about a minute on a busy machine.
TIME_LIMIT_S = 240
# A new high counts for `settle_step` when it exceeds the old one by this share: less is noise.
NEW_HIGH_SHARE = 0.01


def folder_of(trace):
    """Splits the traces in halves by a hash of the name, so that no one chooses; kinds that the
    verdict was developed on name their folder."""
    name = trace["name"]
    return trace["folder"] or ("own" if hashlib.sha256(name.encode()).digest()[0] % 2 == 0 else "heldout")


# --- reading /proc -------------------------------------------------------------------------------

def read_kb(path, wanted):
    """Returns the `Name: value kB` lines of a /proc file as MiB, by name; Threads as a number."""
    found = {}
    for line in pathlib.Path(path).read_text().splitlines():
        name, _, rest = line.partition(":")
        if name in wanted:
            number = int(rest.split()[0])
            found[name] = number if name == "Threads" else number / 1024
    return found


def children_of(pid):
    """Returns the direct children of a process, over all its threads."""
    found = []
    for task in sorted(pathlib.Path(f"/proc/{pid}/task").iterdir(), key=lambda t: int(t.name)):
        try:
            found += [int(c) for c in (task / "children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


class Tree:
    """Samples a process tree. Processes are numbered in order of their first appearance."""

    def __init__(self, root):
        self.root = root
        self.numbers = {}

    def members(self):
        """Yields (pid, parent pid) from the root down; a member that vanishes is no error."""
        waiting = [(self.root, None)]
        while waiting:
            pid, parent = waiting.pop(0)
            yield pid, parent
            try:
                waiting += [(child, pid) for child in children_of(pid)]
            except (FileNotFoundError, ProcessLookupError):
                continue

    def sample(self):
        """Returns one dict per living process."""
        rows = []
        for pid, parent in self.members():
            try:
                rollup = read_kb(f"/proc/{pid}/smaps_rollup",
                                 {"Rss", "Pss", "Private_Clean", "Private_Dirty"})
                status = read_kb(f"/proc/{pid}/status",
                                 {"RssAnon", "RssFile", "RssShmem", "VmSwap", "Threads"})
            except (FileNotFoundError, ProcessLookupError):
                continue
            if "Pss" not in rollup:  # a zombie has no memory
                continue
            number = self.numbers.setdefault(pid, len(self.numbers))
            rows.append({
                "proc": number, "parent": "" if parent is None else self.numbers.get(parent, ""),
                "rss_mb": rollup["Rss"], "pss_mb": rollup["Pss"],
                "uss_mb": rollup["Private_Clean"] + rollup["Private_Dirty"],
                "anon_mb": status["RssAnon"], "file_mb": status["RssFile"],
                "shmem_mb": status["RssShmem"], "swap_mb": status["VmSwap"],
                "threads": status["Threads"]})
        return rows


# --- running a workload --------------------------------------------------------------------------

def command_of(trace, temporary):
    """Returns the command line of a trace's workload, compiled first if it is C++."""
    source = HERE / "workloads" / trace["workload"]
    arguments = [f"{k}={v}" for k, v in sorted(trace["parameters"].items())]
    for key in ("steps", "epoch_steps", "batch", "onset_step"):
        if trace[key] is not None:
            arguments.append(f"{key}={trace[key]}")
    if source.suffix == ".py":
        return [sys.executable, str(source)] + arguments
    program = pathlib.Path(temporary) / source.stem
    subprocess.run(["g++", "-std=c++20", "-O1", "-pthread", "-o", str(program), str(source)],
                   check=True)
    return [str(program)] + arguments


def environment_of(trace, temporary):
    """Returns the environment: a temporary folder of its own, and the allocator asked for."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("LD_", "MALLOC_"))}
    environment.update(TMPDIR=temporary, PYTHONHASHSEED="0", PYTHONDONTWRITEBYTECODE="1")
    allocator = trace["allocator"]
    if trace["server"] or allocator == "glibc":
        return environment  # a server uses the allocator its package was built with
    if "=" in allocator:
        key, value = allocator.split("=")
        environment[key] = value
    else:
        environment["LD_PRELOAD"] = allocator
    return environment


def rows_of_step(tree, trace, started, step, event):
    """Samples the tree once and returns the rows to be written."""
    epoch = "" if trace["epoch_steps"] is None else f"{step / trace['epoch_steps']:.4f}"
    elapsed = f"{time.monotonic() - started:.3f}"
    head = {"t_s": elapsed, "step": step, "epoch": epoch, "event": event}
    return [head | row for row in tree.sample()]


def follow(process, trace, started):
    """Answers the workload's lines until DONE. Returns the rows and what DONE said."""
    tree, rows = Tree(process.pid), []
    for line in process.stdout:
        word, *rest = line.split()
        if word == "WATCH":
            tree = Tree(int(rest[0]))
        elif word == "STEP":
            step, event = int(rest[0]), rest[1] if len(rest) > 1 else ""
            if event or step % trace["every"] == 0:
                rows += rows_of_step(tree, trace, started, step, event)
            process.stdin.write("go\n")
            process.stdin.flush()
        elif word == "DONE":
            return rows, dict(pair.split("=") for pair in rest)
        if time.monotonic() - started > TIME_LIMIT_S:
            raise TimeoutError("the workload takes too long")
    raise RuntimeError("the workload ended without DONE")


def run(trace):
    """Runs one workload to its end and returns the rows and its own account."""
    temporary = tempfile.mkdtemp(prefix="plateau-record-")
    os.chmod(temporary, 0o755)  # a server that drops its privileges must reach its folder
    command = command_of(trace, temporary)
    started = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               env=environment_of(trace, temporary), start_new_session=True)
    try:
        rows, account = follow(process, trace, started)
        process.stdin.close()
        process.wait(timeout=20)
        return rows, account
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)  # the workload's own session, started above
        except ProcessLookupError:
            pass
        process.wait()
        shutil.rmtree(temporary, ignore_errors=True)


# --- writing -------------------------------------------------------------------------------------

def totals_of(rows):
    """Returns [(step, tree PSS in MiB)]."""
    totals = {}
    for row in rows:
        totals[row["step"]] = totals.get(row["step"], 0) + row["pss_mb"]
    return sorted(totals.items())


def settle_step_of(totals):
    """Returns the step of the last new high, 0 if there is none after the first sample."""
    high, settled = totals[0][1], 0
    for step, value in totals[1:]:
        if value > high * (1 + NEW_HIGH_SHARE):
            high, settled = value, step
    return settled


def label_of(trace, rows, account):
    """Returns the entry for labels.json: the keys of dev and a few that only these have."""
    totals, leak = totals_of(rows), trace["label"] == "leak"
    onset = trace["onset_step"] or 0
    ended_step = int(account["ended"]) if account["ended"] != "never" else None
    leaked_mb = float(account["leaked"]) / 2**20
    if leak != (leaked_mb > 0) or (leak and ended_step is not None):
        raise RuntimeError(f"label {trace['label']} contradicts the workload: {account}")
    batch, epoch_steps = trace["batch"], trace["epoch_steps"]
    return {
        "label": trace["label"], "cause": trace["cause"], "kind": trace["kind"],
        "steps": trace["steps"], "every": trace["every"], "epoch_steps": epoch_steps,
        "examples": None if epoch_steps is None else batch * epoch_steps, "batch": batch,
        "allocator": trace["allocator"], "settle_step": settle_step_of(totals),
        "rate_mb_per_step": round(leaked_mb / (trace["steps"] - onset), 4) if leak else 0,
        "onset_step": trace["onset_step"],
        "ended": ended_step is not None and ended_step < totals[-1][0], "ended_step": ended_step,
        "growth_mb": round(max(v for _, v in totals) - totals[0][1], 1),
        "workload": trace["workload"], "note": trace["note"]}


def write_trace(path, rows):
    """Writes the rows; the same rows give the same bytes."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({k: f"{v:.3f}" if k.endswith("_mb") else v for k, v in row.items()})
    path.write_bytes(gzip.compress(text.getvalue().encode(), 9, mtime=0))


def write_label(folder, name, label):
    """Adds or replaces one entry of the folder's labels.json."""
    path = folder / "labels.json"
    labels = json.loads(path.read_text()) if path.exists() else {}
    labels[name] = label
    path.write_text(json.dumps(labels, indent=1, sort_keys=True) + "\n")


def record(trace):
    """Records one trace and says in a line what came out."""
    rows, account = run(trace)
    label = label_of(trace, rows, account)
    folder = CORPUS / folder_of(trace)
    folder.mkdir(exist_ok=True)
    write_trace(folder / f"{trace['name']}.csv.gz", rows)
    write_label(folder, trace["name"], label)
    totals = totals_of(rows)
    print(f"{trace['name']:28} {folder.name:8} {label['label']:8} {totals[0][1]:7.1f} -> "
          f"{totals[-1][1]:7.1f} MB, grew {label['growth_mb']:6.1f}, "
          f"settled {label['settle_step']}, ended {label['ended_step']}, "
          f"{label['rate_mb_per_step']} MB/step, {rows[-1]['t_s']} s",
          flush=True)


def chosen(options):
    """Returns the traces that the command line asks for."""
    if options.all:
        return TRACES
    if options.missing:
        return [t for t in TRACES
                if not (CORPUS / folder_of(t) / f"{t['name']}.csv.gz").exists()]
    known = {t["name"] for t in TRACES} | {t["kind"] for t in TRACES}
    for name in options.names:
        if name not in known:
            sys.exit(f"record.py: no trace or kind is named {name}; --list shows all")
    return [t for t in TRACES if t["name"] in options.names or t["kind"] in options.names]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        for trace in TRACES:
            print(f"{trace['name']:28} {folder_of(trace):8} {trace['label']}")
        return 0
    failures = 0
    for trace in chosen(options):
        try:
            record(trace)
        except (RuntimeError, TimeoutError, OSError, subprocess.SubprocessError) as error:
            failures += 1
            print(f"{trace['name']}: not recorded: {error}", file=sys.stderr, flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
