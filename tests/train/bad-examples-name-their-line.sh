#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Pictures that are none, examples that are too long and examples without a label: an error in one
# line with file and line number, or left out and counted with --skip-bad. Never a blank picture.
. "$(dirname "$0")/train_lib.sh"

small_case 6
python3 - <<'PY'
import json

lines = [json.loads(line) for line in open("tiny/train.jsonl")]
open("tiny/empty.png", "wb").close()
open("tiny/noise.jpg", "wb").write(b"\xff\xd8\xff\xe0" + bytes(range(256)) * 8)
user = {"role": "user", "content": "What is it?"}
cases = {
    "directory": dict(lines[4], image="pictures"),
    "no-bytes": dict(lines[4], image="empty.png"),
    "no-jpeg": dict(lines[4], image="noise.jpg"),
    "no-path": dict(lines[4], image=5),
    "data": dict(lines[4], image="data:image/png;base64,AAAA"),
    "address": dict(lines[4], image="http://localhost/a.png"),
    "no-picture": {"messages": [{"role": "user", "content": [{"type": "image"}]},
                                {"role": "assistant", "content": "A square."}]},
    "no-answer": {"messages": [user]},
    "empty-answer": {"messages": [user, {"role": "assistant", "content": ""}]},
    "too-long": dict(lines[4], text="square " * 300),
}
for name, case in cases.items():
    with open(f"tiny/{name}.jsonl", "w") as file:
        file.writelines(json.dumps(case if i == 4 else line) + "\n" for i, line in enumerate(lines))
open("cases", "w").writelines(name + "\n" for name in cases)
PY
options=(--batch-size 2 --gradient-accumulation-steps 1 --epochs 1 --max-seq-length 200)
while read -r name; do
  train "refused-$name" -d "tiny/$name.jsonl" "${options[@]}" -q
  expect_code 2
  expect_one_line err
  expect_in err "tiny/$name.jsonl line 5: "
  [ ! -e "refused-$name/adapter" ] || fail "$name: a result in spite of the error"
  train "skipped-$name" -d "tiny/$name.jsonl" "${options[@]}" --skip-bad -q
  expect_code 0
  expect_in out "1 bad examples were left out"
  expect_in out "tiny/$name.jsonl line 5: "
  [ "$(losses "skipped-$name" | wc -l)" -eq 3 ] || fail "$name: $(losses "skipped-$name")"
done <cases
# Not one picture's tokens fit: nothing is cut to make them fit.
train refused -d tiny/train.jsonl --max-seq-length 20
expect_code 2
expect_one_line err
expect_in err "--max-seq-length"
