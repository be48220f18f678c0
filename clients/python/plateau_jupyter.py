# SPDX-License-Identifier: Apache-2.0
"""Plateau in a notebook: `%load_ext plateau`, then

    %plateau job.plateau                the answer and the chart of a recording or a log, inline
    %plateau train.log --examples 663 --batch 8
    %plateau                            of the newest job that is being recorded now
    %%plateau                           watches this kernel while the cell runs, then shows the chart
    %%plateau --keep cell.plateau       the same, and keeps the recording

The program `plateau` does the work: the one that PLATEAU names, the one that was installed with this module, or the one on
the path. A cell runs as it would without: if plateau is not there, that is said and the cell runs all the same.
"""
import os
import shlex
import shutil
import signal
import site
import subprocess
import sysconfig
import tempfile

# What a watcher gets to write its last sample and end.
_PATIENCE_S = 10


def load(shell):
    """Registers the magics with IPython's shell."""
    shell.register_magic_function(lambda line: _line(line), "line", "plateau")
    shell.register_magic_function(lambda line, cell: _cell(shell, line, cell), "cell", "plateau")


def _program():
    # A kernel is often started without the path of its environment.
    installed = os.pathsep.join([sysconfig.get_path("scripts"), os.path.join(site.getuserbase(), "bin")])
    return os.environ.get("PLATEAU") or shutil.which("plateau", path=installed) or shutil.which("plateau")


def _ask(*words):
    return subprocess.run([_program(), *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)


def _say(text):
    print("plateau: " + text)


def _show(words):
    """The chart, with the headline as the text for those who see no pictures."""
    from IPython.display import display

    chart = _ask("report", "--as", "svg", *words)
    if chart.returncode != 0:
        _say(chart.stderr.strip().replace("plateau report: ", "", 1))
        return
    answer = _ask("judge", "--no-plot", "--color", "never", *words)
    display({"image/svg+xml": chart.stdout, "text/plain": answer.stdout}, raw=True)


def _live():
    """The newest recording that a running plateau writes, as `plateau status` finds it."""
    found = _ask("status", "--paths")
    return found.stdout.split("\n")[0]


def _line(line):
    if _program() is None:
        return _say("the program is neither installed here nor on the path; PLATEAU may name it")
    words = shlex.split(line)
    if not words:
        newest = _live()
        if not newest:
            return _say("no job is being recorded; give a file")
        words = [newest]
    return _show(words)


def _cell(shell, line, cell):
    if _program() is None:
        _say("the program is neither installed here nor on the path; the cell runs unwatched")
        shell.run_cell(cell)
        return
    words = shlex.split(line)
    keep = None
    if "--keep" in words:
        at = words.index("--keep")
        keep = words[at + 1] if at + 1 < len(words) else None
        del words[at:at + 2]
    with tempfile.TemporaryDirectory(prefix="plateau-") as folder:
        recording = keep or os.path.join(folder, "cell.plateau")
        watcher = subprocess.Popen(
            [_program(), "watch", str(os.getpid()), "-o", recording, "--force", "--no-census", "--lines", "--interval", "0.1s"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            shell.run_cell(cell)
        finally:
            watcher.send_signal(signal.SIGINT)
            try:
                _, trouble = watcher.communicate(timeout=_PATIENCE_S)
            except subprocess.TimeoutExpired:
                watcher.kill()
                _, trouble = watcher.communicate()
        if not os.path.exists(recording):
            return _say("could not watch: " + (trouble or "").strip()[-300:])
        _show([recording, *words])
