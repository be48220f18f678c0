#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The case that Plateau began with (seeds_case.py), whole, on the real packages and without an option or a line in the
job: `run` says that it is a plateau, where it ends, what an example costs, which list holds the images and the line
that makes it; `profile` names the same list in a job that is under way; and `prove` says before step 100 that it is
kept per example.

    PLATEAU=build/release/plateau STACK=$(tools/stack.sh) tests/stack/seeds.py
"""
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PLATEAU = os.environ["PLATEAU"]
JOB = [sys.executable, os.path.join(HERE, "seeds_case.py")]
SIDE = 512
PICTURE_MB = SIDE * SIDE * 4 / 1e6  # Pillow keeps four bytes a pixel.


def answer_of(command, directory):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, cwd=directory)
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith('{"')]
    assert lines, (done.returncode, done.stderr[-3000:])
    return json.loads(lines[-1])


def line_of(beginning):
    with open(JOB[1], encoding="utf-8") as source:
        return next(number for number, line in enumerate(source, 1) if line.strip().startswith(beginning))


def run_says_where_it_ends(directory):
    answer = answer_of([PLATEAU, "run", "--json", "-o", "case.plateau", "--"] + JOB, directory)
    said = json.dumps(answer)
    assert answer["verdict"] == "plateau", said[:3000]
    assert answer["epoch_steps"] == 83, answer["epoch_steps"]
    assert "the DataLoader: 663 examples / 8 per step" in said, said[:3000]
    assert answer["causes"][0]["name"] == "per-example-cache", answer["causes"]
    per_example = answer["mb_per_example"]
    assert 0.8 * PICTURE_MB < per_example < 1.25 * PICTURE_MB, per_example
    print("run: plateau, %.2f MB per newly seen example" % per_example, flush=True)
    listed = [holder for holder in answer["holders"] if holder["path"] == "data.images"]
    assert listed, (answer["holders"], answer.get("notes"))
    assert (listed[0]["type"], listed[0]["owner"].split(".")[-1]) == ("list", "Pictures"), listed
    assert {line["line"] for line in listed[0]["added_at"]} == {line_of("self.images = ")}, listed
    assert listed[0] == answer["holders"][0], [holder["path"] for holder in answer["holders"]]
    print("run: names the list of images, made at line %d" % line_of("self.images = "), flush=True)


def profile_names_the_list(directory):
    with subprocess.Popen(JOB + ["--epochs", "20"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          cwd=directory) as job:
        try:
            time.sleep(5)
            for _ in range(20):  # Until it has got beyond its imports.
                time.sleep(2)
                done = subprocess.run([PLATEAU, "profile", str(job.pid), "--objects", "--again", "3s", "--max-stop", "5s"],
                                      text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
                found = " ".join(done.stdout.split())
                if "`data.images` in `main` (seeds_case.py:" in found:
                    break
        finally:
            job.kill()
    assert "663 PIL.PngImagePlugin.PngImageFile" in found, done.stdout[:3000] + done.stderr
    print("profile: names the list of images", flush=True)


def prove_says_it_before_step_100(directory):
    answer = answer_of([PLATEAU, "prove", "--json", "--"] + JOB, directory)
    assert answer["proved"] == "per-example", json.dumps(answer)[:3000]
    assert answer["steps"] < 100, answer["steps"]
    print("prove: per example, after %d steps" % answer["steps"], flush=True)


def main():
    with tempfile.TemporaryDirectory() as directory:
        run_says_where_it_ends(directory)
        profile_names_the_list(directory)
        prove_says_it_before_step_100(directory)


if __name__ == "__main__":
    main()
