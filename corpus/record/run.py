# SPDX-License-Identifier: Apache-2.0
"""Runs one workload and samples it: what record.py does for each trace, in a process of its own.

A workload prints `STEP n [event]` at each step end and waits for one line of answer, so that the
sample is taken exactly there. A driver of a server prints `WATCH pid` first, and then the server's
tree is measured instead of the driver's. At its end a workload prints `DONE leaked=.. ended=..`.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from tree import Tree

WORKLOADS = pathlib.Path(__file__).resolve().parent / "workloads"
STACK_PYTHON = "PLATEAU_STACK_PYTHON"  # names the Python that has torch and the like
INTERPRETERS = {"python": sys.executable, "venv": os.environ.get(STACK_PYTHON), "node": "node",
                "java": "java", "perl": "perl", "ruby": "ruby", "lua": "lua5.4", "php": "php"}
# A run that hangs is stopped; the longest honest one takes about a minute on a busy machine.
TIME_LIMIT_S = 120


def program_of(workload, folder):
    """Returns where the program of a C++ workload is; the name holds the folder, as two may have
    a source of one name."""
    return str(pathlib.Path(folder) / workload.removesuffix(".cc").replace("/", "-"))


def compiled(workloads, folder):
    """Compiles the C++ and Java workloads among these once each, into a folder."""
    for workload in sorted(set(workloads)):
        source = WORKLOADS / workload
        if source.suffix == ".cc":
            subprocess.run(["g++", "-std=c++20", "-O1", "-pthread", "-I", str(WORKLOADS), "-o",
                            program_of(workload, folder), str(source)], check=True)
        elif source.suffix == ".java":
            others = sorted(str(path) for path in source.parent.glob("*.java"))
            subprocess.run(["javac", "-d", folder] + others, check=True)


def command_of(trace, programs):
    """Returns the command line of a trace's workload; `programs` is where the compiled ones are."""
    source = WORKLOADS / trace["workload"]
    arguments = [f"{k}={v}" for k, v in sorted(trace["parameters"].items())]
    for key in ("steps", "epoch_steps", "batch", "onset_step"):
        if trace[key] is not None:
            arguments.append(f"{key}={trace[key]}")
    if trace["runtime"] == "cc":
        return [program_of(trace["workload"], programs)] + arguments
    start = [INTERPRETERS[trace["runtime"]]] + trace["options"].split()
    if trace["runtime"] == "java":
        return start + ["-cp", str(programs), source.stem] + arguments
    return start + [str(source)] + arguments


def environment_of(trace, temporary):
    """Returns the environment: a temporary folder of its own, and the allocator asked for."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("LD_", "MALLOC_"))}
    environment.update(TMPDIR=temporary, PYTHONHASHSEED="0", PYTHONDONTWRITEBYTECODE="1",
                       PYTHONPATH=str(WORKLOADS), RUBYLIB=str(WORKLOADS / "runtimes"),
                       PERL5LIB=str(WORKLOADS / "runtimes"))
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
    raise RuntimeError("the workload ended without DONE, or took too long")


def run(trace, programs):
    """Runs one workload to its end and returns the rows and its own account."""
    temporary = tempfile.mkdtemp(prefix="plateau-record-")
    os.chmod(temporary, 0o755)  # a server that drops its privileges must reach its folder
    started = time.monotonic()
    process = subprocess.Popen(command_of(trace, programs), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True, start_new_session=True,
                               env=environment_of(trace, temporary))
    guard = threading.Timer(TIME_LIMIT_S, os.killpg, (process.pid, signal.SIGKILL))
    guard.start()
    try:
        rows, account = follow(process, trace, started)
        process.stdin.close()
        process.wait(timeout=20)
        return rows, account
    finally:
        guard.cancel()
        try:
            os.killpg(process.pid, signal.SIGKILL)  # the workload's own session, started above
        except ProcessLookupError:
            pass
        process.wait()
        shutil.rmtree(temporary, ignore_errors=True)
