#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tasks for VS Code: every one of them runs as it stands, with the file that is open in the place of its variables.
. "$(dirname "$0")/lib.sh"

cp "$RUN2" train.log
echo 'print("step 1")' >train.py
/usr/bin/python3 - "$SOURCE_DIR/integrations/vscode/tasks.json" "$PLATEAU" <<'PY' || fail "a task does not run"
import json, os, re, subprocess, sys

text = "".join(line for line in open(sys.argv[1]) if not line.lstrip().startswith("//"))
tasks = json.loads(text)
assert tasks["version"] == "2.0.0" and len(tasks["tasks"]) >= 4, tasks
for task in tasks["tasks"]:
    assert task["type"] == "process" and task["command"] == "plateau", task
    opened = "train.py" if task["args"][0] == "run" else "train.log"
    values = {"file": os.path.abspath(opened), "fileDirname": os.getcwd(), "fileBasenameNoExtension": "train",
              "config:python.defaultInterpreterPath": "/usr/bin/python3"}
    words = [re.sub(r"\$\{([^}]*)\}", lambda name: values[name[1]], word) for word in task["args"]]
    done = subprocess.run([sys.argv[2], *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    # A verdict's code, or 4: nothing is being recorded.
    assert done.returncode in (0, 1, 3) + ((4,) if words[0] == "status" else ()), (words, done)
assert open("train.html").read().startswith("<!doctype html>")
PY
[ "$(find . -name '*.plateau' | wc -l)" -eq 1 ] || fail "the task that runs a file left no recording"
