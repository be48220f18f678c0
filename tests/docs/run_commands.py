#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands that the documentation shows: run_commands.py PLATEAU [PAGE...]

Every block marked `sh` is run as it stands, and so is every line behind a `$` of a block marked `console`, page by page, in
a folder with a log, a job, recordings and recorded traces. What a page calls by a name that is not of this machine stands
for something that is: 4242 is a job that runs, prometheus:9090 a database with a small fleet, kubectl and torchrun are
scripts of a few lines. What runs until somebody ends it is ended after two seconds, by Ctrl-C.

A verdict is no failure; wrong usage, a missing file or an unknown command is, of any program. No other block may hold a command:
who writes one without a mark is told. ELSEWHERE says which test runs what cannot be run here.
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.S | re.M)
# First words of a line that is a command; such a line in a block without a mark is an error.
COMMAND = re.compile(r"^(\$ |plateau |plateau-train |pip |make |torchrun |srun |mpirun |kubectl )", re.M)
# What is not run here -> the test that runs it.
ELSEWHERE = {
    r"plateau-train |plateau train ": "tests/train",          # Needs LibTorch.
    r"plateau prove -- python train\.py": "tests/prove/run.sh",  # Needs torch's loaders.
    r"--find-training": "tests/e2e/watch-finds-the-training-job.sh",  # Finds those of other tests too.
    r"--job 4711": "tests/e2e/fleet-judges-real-databases.sh",  # Needs what many ranks have sent.
    r"hosts\.sh|ctest ": "tests/ranks/hosts.sh",             # Needs root, for hosts that are namespaces.
    r"make (demo|test)": "tools/demo.sh",                     # The tests themselves, and what they build.
}
DATABASE_END = 1793534400  # Of tests/fleet/lying_database.py.
STRICT = """set -o pipefail
trap 'code=$?; [ $code -eq 141 ] || { echo "exit code $code: $BASH_COMMAND" >&2; exit 99; }' ERR
[ ! -e ../functions ] || . ../functions
"""
# A block may define functions that later ones of its page call.
KEPT = """
declare -f >../functions
"""
# Stand-ins on the PATH. What ends only when it is told to is told to.
PROGRAMS = {
    "plateau": """limit=0
case " $* " in " serve "* | " watch "* | *" --every "*) limit=2 ;; esac
timeout --foreground --signal=INT $limit "$REAL_PLATEAU" "$@"
case $? in 0 | 1 | 3 | 124) ;; *) exit 99 ;; esac
""",
    "python": 'exec /usr/bin/python3 "$@"\n',
    # Its own options go up to the program; two ranks are enough.
    "torchrun": """while [ $# -gt 0 ]; do case $1 in
  --nnodes | --nproc-per-node) shift 2 ;; --no-python) bare=yes; shift ;; *) break ;; esac; done
export WORLD_SIZE=2 TORCHELASTIC_RUN_ID=docs
for RANK in 0 1; do export RANK; if [ "${bare:-}" = yes ]; then "$@"; else python "$@"; fi || exit; done
""",
    "srun": 'SLURM_JOB_ID=7 SLURM_NTASKS=1 SLURM_PROCID=0 exec "$@"\n',
    "mpirun": 'shift 2; exec "$@"\n',
    "kubectl": 'case $1 in logs) cat train.log ;; top) cat "$TOP_LOG" ;; esac\n',
    "nvidia-smi": "echo 'pid, used_gpu_memory [MiB]'\n",
    "mail": "cat >mailed\n",
    "ssh": "exit 0\n",
    "socat": """exec /usr/bin/python3 -c 'import socket, sys
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(sys.stdin.buffer.read(), sys.argv[1].split(":")[1])' "$3"
""",
    "less": "exec cat\n",
    "grep": '/usr/bin/grep "$@" || [ $? -eq 1 ]\n',  # Nothing found is an answer.
    "sleep": "exec /usr/bin/sleep 0.2\n",
}


def blocks_of(page):
    """What is run as one, of a page: a block marked sh, a line of one marked console."""
    for mark, body in BLOCK.findall(page.read_text(encoding="utf-8")):
        if mark in ("sh", "bash"):
            yield body
        elif mark == "console":
            yield from (line[2:] for line in body.splitlines() if line.startswith("$ "))
        elif COMMAND.search(body):
            sys.exit(f"FAILED: {page.name} shows a command in a block without the mark sh or console:\n{body}")


def left_out(text):
    """Whether another test runs it; that test has to be there."""
    for pattern, test in ELSEWHERE.items():
        if re.search(pattern, text):
            assert (ROOT / test).exists(), test
            return True
    return False


def run_here(block):
    """The block without its lines that another test runs; nothing if those cannot be told from the rest."""
    lines = block.splitlines()
    if all(COMMAND.match(line) for line in lines) and "\\\n" not in block:
        return "".join(line + "\n" for line in lines if not left_out(line))
    return "" if left_out(block) else block


class World:
    """A folder with what the pages speak of."""

    def __init__(self, plateau, place):
        self.place = place
        (place / "bin").mkdir()
        for name, script in PROGRAMS.items():
            path = place / "bin" / name
            path.write_text("#!/bin/bash\n" + script)
            path.chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{place}/bin:{os.environ['PATH']}", "REAL_PLATEAU": plateau, "no_proxy": "*",
                            "TOP_LOG": str(ROOT / "tests/fixtures/forms/kubectl_top.txt"), "HOME": str(place)}
        self.servers = []
        database = self.serve([ROOT / "tests/fleet/lying_database.py", "honest", "4"])
        receiver = self.serve([ROOT / "tests/stand_in/push_receiver.py", "honest", place / "received"])
        self.receiver = receiver
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        self.environment["DOCS_PORT"] = port
        self.names = {"--push http://prometheus:9090": f"--push {receiver}", "--url http://prometheus:9090": f"--url {database} --at {DATABASE_END}",
                      "http://victoria:8428": receiver, "http://mimir": receiver, "/var/lib/node_exporter": str(place),
                      ":8000/": f":{port}/", "--again 30s": "--again 1s", "prove --repeat": "prove --requests 8 --repeat",
                      "/sys/fs/cgroup/memory.stat": "/proc/self/status", '"$(pgrep -n java)"': "4242"}
        # Where a watcher would listen.
        self.heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.heard.bind(str(place / "socket"))
        self.environment["PLATEAU_SOCKET"] = str(place / "socket")
        # What a page takes for made before.
        self.runs = [place / "before.plateau", place / "after.plateau"]
        for recording in self.runs:
            subprocess.run([plateau, "run", "-q", "-o", recording, "--", "/usr/bin/python3", HERE / "train.py"], check=True,
                           stdout=subprocess.DEVNULL)

    def serve(self, command):
        server = subprocess.Popen([sys.executable, *map(str, command)], stdout=subprocess.PIPE, text=True)
        self.servers.append(server)
        return server.stdout.readline().strip()

    def folder(self, number):
        """A fresh one for a page."""
        folder = self.place / f"page-{number}" / "here"
        folder.mkdir(parents=True)
        (folder / "corpus").symlink_to(ROOT / "corpus")
        shutil.copy(ROOT / "corpus/model-garden/run2.log", folder / "train.log")
        shutil.copy(ROOT / "corpus/model-garden/run1.log", folder / "short.log")
        for rank in range(3):
            shutil.copy(ROOT / "corpus/model-garden/run1.log", folder / f"rank{rank}.log")
        for script in ("train.py", "server.py"):
            shutil.copy(HERE / script, folder)
        shutil.copy(HERE / "server.py", folder / "serve.py")
        for recording in self.runs:
            shutil.copy(recording, folder)
        (folder / "runs").mkdir()
        shutil.copy(self.runs[0], folder / "runs")
        (folder / "out/checkpoint-500").mkdir(parents=True)
        shutil.copy(ROOT / "tests/fixtures/logs/trainer_state.json", folder / "out/checkpoint-500")
        for model in ("Qwen2.5-VL-3B", "Qwen2.5-VL-7B"):
            # The small one of the tests, with pictures cut as in the large ones.
            (folder / model).mkdir()
            config = json.loads((ROOT / "trainer/testdata/qwen25vl-tiny/config.json").read_text())
            config["vision_config"].update(patch_size=14, spatial_merge_size=2)
            (folder / model / "config.json").write_text(json.dumps(config))
        (folder / "train.jsonl").write_text('{"prompt": "2 + 2?", "completion": "4"}\n{"prompt": "3 + 3?", "completion": "6"}\n')
        (folder / "webhook.txt").write_text(self.receiver + "\n")
        return folder

    def run(self, block, folder, job):
        for name, stands_for in self.names.items():
            block = block.replace(name, stands_for)
        block = re.sub(r"\b(4242|PID)\b", str(job.pid), block)
        return subprocess.run(["bash", "-c", STRICT + block + KEPT], cwd=folder, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", timeout=120, check=False)

    def close(self):
        for server in self.servers:
            server.kill()
        self.heard.close()


def run_page(world, page, blocks, folder):
    for block in blocks:
        # A job of its own for each; one that is recorded until it ends does so soon.
        stay = "4" if "PID" in block else "60"
        job = subprocess.Popen(["/usr/bin/python3", folder / "train.py", stay], cwd=folder, stdout=subprocess.DEVNULL)
        begin = time.monotonic()
        try:
            done = world.run(block, folder, job)
        finally:
            job.kill()
            job.wait()
        print(f"{page.name}: {time.monotonic() - begin:.1f} s: {block.strip().splitlines()[0][:80]}", flush=True)
        if done.returncode != 0:
            sys.exit(f"FAILED: {page.name}:\n{block}\n{done.stdout[-1000:]}{done.stderr[-2000:]}")


def main():
    plateau = sys.argv[1]
    pages = [pathlib.Path(page) for page in sys.argv[2:]] or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    run = skipped = with_commands = 0
    with tempfile.TemporaryDirectory() as place, contextlib.closing(World(plateau, pathlib.Path(place))) as world:
        for number, page in enumerate(pages):
            blocks = list(blocks_of(page))
            here = [part for part in map(run_here, blocks) if part]
            skipped += len(blocks) - len(here)
            with_commands += bool(blocks)
            run += len(here)
            if here:
                run_page(world, page, here, world.folder(number))
    print(f"{run} blocks of {with_commands} pages were run; {skipped} are run by other tests")


if __name__ == "__main__":
    main()
