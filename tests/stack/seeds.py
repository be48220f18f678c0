#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The case that Plateau began with (seeds_case.py), whole, on the real packages and without an option or a line in the
job: `run` says that it is a plateau, where it ends, what an example costs, which list holds the images and the line
that makes it; `profile` names the same list in a job that is under way; and `prove` says before step 100 that it is
kept per example.

    PLATEAU=build/release/plateau STACK=$(tools/stack.sh) tests/stack/seeds.py [--picture-mb 20]

A picture takes 1 MB once it is decoded. In the case as it was met it took 20, which makes 13 GB: --picture-mb 20, by
hand, on a machine with 18 GB to spare.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PLATEAU = os.environ["PLATEAU"]
SCRIPT = os.path.join(HERE, "seeds_case.py")
EXAMPLES = 663
PIXEL_BYTES = 4  # Pillow keeps an RGB pixel in so many.
SPARE = 1.35  # Times what the pictures take: the rest is torch, the model and what others run.


def answer_of(command, directory):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, cwd=directory)
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith('{"')]
    assert lines, (done.returncode, done.stderr[-3000:])
    return json.loads(lines[-1])


def line_of(beginning):
    with open(SCRIPT, encoding="utf-8") as source:
        return next(number for number, line in enumerate(source, 1) if line.strip().startswith(beginning))


def run_says_where_it_ends(job, picture_mb, directory):
    answer = answer_of([PLATEAU, "run", "--json", "-o", "case.plateau", "--"] + job, directory)
    said = json.dumps(answer)
    assert answer["verdict"] == "plateau", said[:3000]
    assert answer["epoch_steps"] == 83, answer["epoch_steps"]
    assert "the DataLoader: 663 examples / 8 per step" in said, said[:3000]
    assert answer["causes"][0]["name"] == "per-example-cache", answer["causes"]
    per_example = answer["mb_per_example"]
    assert 0.8 * picture_mb < per_example < 1.25 * picture_mb, per_example
    print("run: plateau at %.2f GB since step %.0f, %.2f MB per newly seen example" % (
        answer["settled"]["mb"] / 1e3, answer["settled"]["step"], per_example), flush=True)
    listed = [holder for holder in answer["holders"] if holder["path"] == "data.images"]
    assert listed, (answer["holders"], answer.get("notes"))
    assert (listed[0]["type"], listed[0]["owner"].split(".")[-1]) == ("list", "Pictures"), listed
    assert {line["line"] for line in listed[0]["added_at"]} == {line_of("self.images = ")}, listed
    assert listed[0] == answer["holders"][0], [holder["path"] for holder in answer["holders"]]
    print("run: names the list of images, made at line %d" % line_of("self.images = "), flush=True)


def profile_names_the_list(job, directory):
    with subprocess.Popen(job + ["--epochs", "20"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          cwd=directory) as running:
        try:
            time.sleep(5)
            for _ in range(20):  # Until it has got beyond its imports.
                time.sleep(2)
                done = subprocess.run([PLATEAU, "profile", str(running.pid), "--objects", "--again", "3s", "--max-stop", "5s"],
                                      text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
                found = " ".join(done.stdout.split())
                if "`data.images` in `main` (seeds_case.py:" in found:
                    break
        finally:
            running.kill()
    assert "%d PIL.PngImagePlugin.PngImageFile" % EXAMPLES in found, done.stdout[:3000] + done.stderr
    print("profile: names the list of images", flush=True)


def prove_says_it_before_step_100(job, directory):
    answer = answer_of([PLATEAU, "prove", "--json", "--"] + job, directory)
    assert answer["proved"] == "per-example", json.dumps(answer)[:3000]
    assert answer["steps"] < 100, answer["steps"]
    print("prove: per example, %.2f MB each, after %d steps" % (
        answer["mb_per_new_example"], answer["steps"]), flush=True)


def available_mb():
    with open("/proc/meminfo", encoding="ascii") as table:
        return next(int(line.split()[1]) for line in table if line.startswith("MemAvailable")) * 1024 / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--picture-mb", type=float, default=1.0, help="what a decoded picture takes")
    options = parser.parse_args()
    if available_mb() < SPARE * EXAMPLES * options.picture_mb:
        print("skipped: %d pictures of %g MB do not fit into this machine's memory" % (EXAMPLES, options.picture_mb))
        return 77
    side = round(math.sqrt(options.picture_mb * 1e6 / PIXEL_BYTES))
    job = [sys.executable, SCRIPT, "--side", str(side)]
    with tempfile.TemporaryDirectory() as directory:
        run_says_where_it_ends(job, side * side * PIXEL_BYTES / 1e6, directory)
        profile_names_the_list(job, directory)
        prove_says_it_before_step_100(job, directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
