#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`plateau watch PID --auto` on a training that is under way: it learns the epoch, and the losses stay those of the job
alone, bit by bit."""
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    with tempfile.TemporaryDirectory() as directory:
        job = [sys.executable, os.path.join(HERE, "job.py"), "--epochs", "4", "--losses", "--directory", directory]
        alone = subprocess.run(job + ["--step-seconds", "0"], stdout=subprocess.PIPE, check=True).stdout
        started = os.path.join(directory, "started")
        with subprocess.Popen(job + ["--started", started], stdout=subprocess.PIPE) as process:
            while not os.path.exists(started):
                assert process.poll() is None, "the job ended"
                time.sleep(0.05)
            watched = subprocess.run(
                [os.environ["PLATEAU"], "watch", str(process.pid), "--auto", "--json", "--interval", "0.1"],
                text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            losses = process.communicate()[0]
    assert process.returncode == 0, process.returncode
    assert losses == alone, "other losses than the job alone"
    answer = json.loads(watched.stdout.splitlines()[-1])
    assert answer["epoch_steps"] == 60, watched.stdout[-2000:] + watched.stderr
    assert answer["steps"]["last"] > 100, answer["steps"]
    print("ok: %s at step %s" % (answer["verdict"], answer["steps"]["last"]))


if __name__ == "__main__":
    main()
