#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The same examples in the forms that others document give the same losses, to the bit; a line whose
# pictures would be ignored ends the run before step 1.
. "$(dirname "$0")/train_lib.sh"

small_case 8
python3 - <<'PY'
import csv, json

lines = [json.loads(line) for line in open("tiny/train.jsonl")]
forms = {
    "sharegpt": lambda e: {"conversations": [{"from": "human", "value": "<image>" + e["text"]},
                                             {"from": "gpt", "value": e["response"]}], "images": [e["image"]]},
    "llava": lambda e: {"id": "1", "image": e["image"], "conversations": [
        {"from": "human", "value": "<image>" + e["text"]}, {"from": "gpt", "value": e["response"]}]},
    "llama-factory": lambda e: {"images": [e["image"]], "messages": [
        {"role": "user", "content": "<image>" + e["text"]}, {"role": "assistant", "content": e["response"]}]},
    "alpaca": lambda e: {"instruction": "<image>" + e["text"], "input": "", "output": e["response"], "images": [e["image"]]},
    "ms-swift": lambda e: {"query": "<image>" + e["text"], "response": e["response"], "images": [e["image"]]},
    "trl": lambda e: {"images": [e["image"]], "prompt": [{"role": "user", "content": [
        {"type": "image"}, {"type": "text", "text": e["text"]}]}], "completion": [{"role": "assistant", "content": e["response"]}]},
    "axolotl": lambda e: {"messages": [{"role": "user", "content": [
        {"type": "image", "path": e["image"]}, {"type": "text", "text": e["text"]}]},
        {"role": "assistant", "content": [{"type": "text", "text": e["response"]}]}]},
}
for name, form in forms.items():
    with open(f"tiny/{name}.jsonl", "w") as file:
        file.writelines(json.dumps(form(e)) + "\n" for e in lines)
with open("tiny/table.csv", "w", newline="") as file:
    table = csv.DictWriter(file, ["text", "image", "response"])
    table.writeheader()
    table.writerows(lines)
bad = [json.dumps(forms["llama-factory"](e)) for e in lines]
bad[6] = bad[6].replace("<image>", "<image><image>")
open("tiny/one-too-many.jsonl", "w").write("\n".join(bad))
open("forms", "w").writelines(f"{name}.jsonl\n" for name in forms)
open("forms", "a").write("table.csv\n")
PY
options=(--batch-size 2 --gradient-accumulation-steps 1 --max-steps 3 --warmup-steps 0 --learning-rate 1e-3 -q)
train simple "${options[@]}"
expect_code 0
losses simple >simple.txt
[ "$(wc -l <simple.txt)" -eq 3 ] || fail "not 3 steps: $(cat simple.txt)"
while read -r name; do
  train "in-$name" -d "tiny/$name" "${options[@]}"
  expect_code 0
  losses "in-$name" >other.txt
  cmp simple.txt other.txt || fail "$name: other losses than the simple form"
done <forms
train refused -d tiny/one-too-many.jsonl "${options[@]}"
expect_code 2
expect_one_line err
expect_in err 'tiny/one-too-many.jsonl line 7: the text has a place (<image>, or a part of type image) for 2 pictures, and "images" has 1 picture'
[ ! -e refused/log.jsonl ] || fail "it began all the same"
