# SPDX-License-Identifier: Apache-2.0
"""Parquet and Arrow files are refused with a command; that command makes a dataset of them that trains."""

import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

import pyarrow
import pyarrow.parquet

TRAINER = os.environ["TRAINER"]


def run(*arguments):
    return subprocess.run([TRAINER, *map(str, arguments)], capture_output=True, text=True, check=False)


def main():
    assert run("init", "--preset", "tiny", "-o", "tiny", "--examples", 4, "--eval-examples", 2).returncode == 0
    rows = []
    for line in open("tiny/train.jsonl", encoding="utf-8"):
        example = json.loads(line)
        # Pictures as datasets stores them.
        picture = {"bytes": pathlib.Path("tiny", example["image"]).read_bytes(), "path": None}
        rows.append({"messages": [{"role": "user", "content": "<image>" + example["text"]},
                                  {"role": "assistant", "content": example["response"]}], "images": [picture]})
    table = pyarrow.Table.from_pylist(rows)
    pyarrow.parquet.write_table(table, "a.parquet")
    with pyarrow.ipc.new_file("b.arrow", table.schema) as file:
        file.write_table(table)
    with pyarrow.ipc.new_stream("c.arrow", table.schema) as file:
        file.write_table(table)
    plan = ("plan", "-m", "tiny/model", "--json", "-d")
    expected = json.loads(run(*plan, "tiny/train.jsonl").stdout)["largest_example"]
    for name in ("a.parquet", "b.arrow", "c.arrow"):
        refused = run(*plan, name)
        assert refused.returncode == 2 and refused.stderr.count("\n") == 1, refused.stderr
        command = refused.stderr.split("this makes JSON lines of it (pip install pyarrow): ")[1].strip()
        assert command.startswith("python3 "), command
        subprocess.run(command.replace("python3", shlex.quote(sys.executable), 1), shell=True, check=True)
        read = run(*plan, f"{name}.jsonl")
        assert read.returncode == 0, read.stderr
        assert json.loads(read.stdout)["largest_example"] == expected, read.stdout
        print(name, expected)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
