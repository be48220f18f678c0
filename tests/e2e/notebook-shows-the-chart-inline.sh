#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `%load_ext plateau` in a real kernel, driven by nbclient: the chart of a file and of a cell come inline, a cell
# runs as it would without, and what cannot be shown is one line.
. "$(dirname "$0")/lib.sh"

/usr/bin/python3 -c 'import nbclient, ipykernel' 2>/dev/null || skip "python3-nbclient and python3-ipykernel are not installed"
cp "$RUN2" train.log
export PLATEAU PYTHONPATH=$SOURCE_DIR/clients/python IPYTHONDIR=$PWD/ipython JUPYTER_DATA_DIR=$PWD/jupyter PYTHONDONTWRITEBYTECODE=1
/usr/bin/python3 - <<'PY' || fail "the notebook does not show what it should"
import nbclient, nbformat

cells = [
    "%load_ext plateau",
    "%plateau train.log --examples 663 --batch 8",
    "%plateau no-such.log",
    """%%plateau --keep cell.plateau
import time
kept = []
for step in range(60):
    kept.append(bytearray(b"x") * 1_000_000)
    time.sleep(0.02)
print(len(kept), "kept")""",
    "len(kept)",
]
notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "python3", "language": "python"}
nbclient.NotebookClient(notebook, timeout=120).execute()

def said(cell):
    return "".join(out.get("text", "") for out in cell.outputs)

def charts(cell):
    return [out["data"] for out in cell.outputs if "image/svg+xml" in out.get("data", {})]

_, of_file, of_nothing, of_cell, after = notebook.cells
chart, = charts(of_file)
assert "PLATEAU</tspan> no leak" in chart["image/svg+xml"], chart["image/svg+xml"][:900]
assert chart["text/plain"].startswith("PLATEAU"), chart["text/plain"]
assert said(of_nothing).startswith("plateau: ") and "no-such.log" in said(of_nothing) and not charts(of_nothing), of_nothing.outputs
assert "60 kept" in said(of_cell), of_cell.outputs
assert len(charts(of_cell)) == 1, of_cell.outputs
assert after.outputs[0]["data"]["text/plain"] == "60", "the cell's names are not the notebook's"
PY
[ -s cell.plateau ] || fail "--keep kept nothing"
run "$PLATEAU" judge --json cell.plateau
python3 -c 'import json, sys; v = json.load(open("out")); assert v["last_mb"] - v["first_mb"] > 20, (v["first_mb"], v["last_mb"])' ||
  fail "the cell's growth is not in the recording"
