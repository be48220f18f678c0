#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records memory traces of real programs whose truth is known by construction.

    record.py --list            names of all traces, with folder and label
    record.py NAME...           records these in this order (a kind: all traces of it)
    record.py --all             records all
    record.py --missing         records those that have no file yet
    record.py --jobs N ...      runs N workloads at once, three if nothing is said

Each trace is written to its folder in corpus/, with its entry in that folder's labels.json. What is
measured is the whole process tree of a workload, from outside, through /proc (run.py). Needs Linux,
root or the same user, and the programs that the workloads use; corpus/README.md names them.
"""
import argparse
import concurrent.futures
import csv
import fcntl
import gzip
import hashlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from catalogue import TRACES
from run import INTERPRETERS, STACK_PYTHON, compiled, run

CORPUS = pathlib.Path(__file__).resolve().parent.parent
COLUMNS = ("t_s step epoch event proc parent rss_mb pss_mb uss_mb anon_mb file_mb shmem_mb "
           "swap_mb threads").split()
# A new high counts for `settle_step` when it exceeds the old one by this share: less is noise.
NEW_HIGH_SHARE = 0.01
FAILURES = (RuntimeError, TimeoutError, OSError, ValueError, KeyError, subprocess.SubprocessError)


def folder_of(trace):
    """Splits the traces in halves by a hash of the name, so that no one chooses; kinds that the
    verdict was developed on, and those with drawn parameters, name their folder."""
    first_byte = hashlib.sha256(trace["name"].encode()).digest()[0]
    return trace["folder"] or ("own" if first_byte % 2 == 0 else "heldout")


# --- the label -----------------------------------------------------------------------------------

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
    drawn = {} if trace["family"] is None else {
        "family": trace["family"], "runtime": trace["runtime"]}
    return drawn | {
        "label": trace["label"], "cause": trace["cause"], "kind": trace["kind"],
        "steps": trace["steps"], "every": trace["every"], "epoch_steps": epoch_steps,
        "examples": None if epoch_steps is None else batch * epoch_steps, "batch": batch,
        "allocator": trace["allocator"], "settle_step": settle_step_of(totals),
        "rate_mb_per_step": round(leaked_mb / (trace["steps"] - onset), 4) if leak else 0,
        "onset_step": trace["onset_step"],
        "ended": ended_step is not None and ended_step < totals[-1][0], "ended_step": ended_step,
        "growth_mb": round(max(v for _, v in totals) - totals[0][1], 1),
        "workload": trace["workload"], "note": trace["note"]}


# --- writing -------------------------------------------------------------------------------------

def write_trace(path, rows, decimals):
    """Writes the rows; the same rows give the same bytes."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({k: f"{v:.{decimals}f}" if k.endswith("_mb") else v
                         for k, v in row.items()})
    path.write_bytes(gzip.compress(text.getvalue().encode(), 9, mtime=0))


def write_label(folder, name, label):
    """Adds or replaces one entry of the folder's labels.json, under a lock on the folder: another
    record.py may write to it."""
    path = folder / "labels.json"
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        labels = json.loads(path.read_text()) if path.exists() else {}
        labels[name] = label
        path.write_text(json.dumps(labels, indent=1, sort_keys=True) + "\n")
    finally:
        os.close(lock)


def record(trace, programs):
    """Records one trace, in a worker process. Returns its label and a line that says what came."""
    rows, account = run(trace, programs)
    label = label_of(trace, rows, account)
    folder = CORPUS / folder_of(trace)
    folder.mkdir(exist_ok=True)
    decimals = 3 if trace["family"] is None else 2
    write_trace(folder / f"{trace['name']}.csv.gz", rows, decimals)
    totals = totals_of(rows)
    return label, (f"{trace['name']:28} {folder.name:9} {label['label']:8} {totals[0][1]:7.1f} -> "
                   f"{totals[-1][1]:7.1f} MB, grew {label['growth_mb']:6.1f}, "
                   f"settled {label['settle_step']}, ended {label['ended_step']}, "
                   f"{label['rate_mb_per_step']} MB/step, {rows[-1]['t_s']} s")


# --- several at once -----------------------------------------------------------------------------

def lane_of(trace):
    """Returns what may run only once at a time, or None. PSS divides the pages of a program among
    all who map them, and a second JVM would halve much of the first one's memory. Python itself is
    small, and the recorder's own processes map it all the time."""
    if trace["server"]:
        return trace["workload"]
    return None if trace["runtime"] in ("python", "cc") else trace["runtime"]


def record_all(traces, jobs):
    """Records the traces, some at once, and returns how many failed."""
    waiting, running, failures, done = list(traces), {}, 0, 0
    with tempfile.TemporaryDirectory(prefix="plateau-programs-") as programs, \
            concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        os.chmod(programs, 0o755)
        compiled([t["workload"] for t in traces], programs)
        while waiting or running:
            busy = {lane_of(t) for t in running.values()} - {None}
            free = [t for t in waiting if lane_of(t) not in busy]
            if free and len(running) < jobs:
                running[pool.submit(record, free[0], programs)] = free[0]
                waiting.remove(free[0])
                continue
            for future in concurrent.futures.wait(
                    running, return_when=concurrent.futures.FIRST_COMPLETED).done:
                trace, done = running.pop(future), done + 1
                try:
                    label, line = future.result()
                    write_label(CORPUS / folder_of(trace), trace["name"], label)
                    print(f"{done} of {len(traces)} {line}", flush=True)
                except FAILURES as error:
                    failures += 1
                    print(f"{done} of {len(traces)} {trace['name']}: not recorded: {error}",
                          file=sys.stderr, flush=True)
    return failures


# --- the command line ----------------------------------------------------------------------------

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
    return [t for name in options.names for t in TRACES if name in (t["name"], t["kind"])]


def without_missing_stack(traces):
    """Leaves out the traces that need the stack's Python where none is named, and says so."""
    if INTERPRETERS["venv"]:
        return traces
    kept = [t for t in traces if t["runtime"] != "venv"]
    if len(kept) < len(traces):
        print(f"record.py: {len(traces) - len(kept)} traces skipped: {STACK_PYTHON} does not name "
              "a Python with torch", file=sys.stderr)
    return kept


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--jobs", type=int, default=3, metavar="N")
    options = parser.parse_args()
    if options.list:
        for trace in TRACES:
            print(f"{trace['name']:28} {folder_of(trace):9} {trace['label']}")
        return 0
    return 1 if record_all(without_missing_stack(chosen(options)), options.jobs) else 0


if __name__ == "__main__":
    sys.exit(main())
