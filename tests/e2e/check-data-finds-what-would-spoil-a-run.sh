#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# plateau check-data: 0 for sound data, 1 with the record named for problems, 2 for what is no dataset;
# the dataset is not touched.
. "$(dirname "$0")/lib.sh"

mkdir data && cd data
python3 - <<'PY'
import struct, zlib
def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
png = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1000, 800, 8, 2, 0, 0, 0))
       + chunk(b"IDAT", zlib.compress(bytes(3001 * 800))) + chunk(b"IEND", b""))
open("a.png", "wb").write(png)
open("cut.png", "wb").write(png[:-20])
PY
turn='{"role": "user", "content": "<image>what is it?"}, {"role": "assistant", "content": "a cat"}'
{
  echo '{"messages": ['"$turn"'], "images": ["a.png"]}'
  echo '{"conversations": [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "hello"}]}'
  echo '{"instruction": "add", "input": "1 2", "output": "3"}'
} >good.jsonl
printf 'prompt,completion\n"two\nlines",yes\n' >good.csv
cd ..
before=$(find data -type f -exec sha256sum {} + | sort)

run "$PLATEAU" check-data data/good.jsonl --batch 2
expect_code 0
expect_empty err
expect_in out "SOUND"
expect_in out "3 examples (1 alpaca, 1 conversations, 1 messages)"
expect_in out "2 steps of 2 examples"
expect_in out "2.40 MB decoded for the largest example"
grep -qE '^    learned  assistant +a cat$' out || fail "no mask: $(cat out)"

{
  cat data/good.jsonl
  echo '{"messages": ['"$turn"'], "images": ["cut.png"]}'
  echo '{"messages": ['"$turn"'], "images": ["gone.png"]}'
  echo '{"messages": ['"$turn"']}'
  echo '{"prompt": "a", "completion": ""}'
  printf '{"prompt": "\033[31m", "completion": }\n'
} >data/bad.jsonl
run "$PLATEAU" check-data data/bad.jsonl
expect_code 1
expect_in out "bad.jsonl line 4: data/cut.png: cut off"
expect_in out "bad.jsonl line 5: data/gone.png: No such file"
expect_in out "bad.jsonl line 6: 1 \"<image>\" in the text, 0 pictures beside it"
expect_in out "bad.jsonl line 7: the answer is empty"
expect_in out "bad.jsonl line 8: not JSON"
run "$PLATEAU" check-data data/bad.jsonl --json
expect_code 1
python3 - <<'PY'
import json
answer = json.load(open("out"))
assert not answer["clean"] and answer["examples"] == 7, answer
assert answer["counts"]["broken picture"] == 1 and len(answer["problems"]) == 5, answer
PY
rm data/bad.jsonl

run "$PLATEAU" check-data data
expect_code 0
expect_in out "2 files: 4 examples"
[ "$before" = "$(find data -type f -exec sha256sum {} + | sort)" ] || fail "the dataset was changed"

# Pictures that nobody fetched have no size to speak of.
echo '{"messages": ['"$turn"'], "images": ["https://example.org/a.png"]}' >remote.jsonl
run "$PLATEAU" check-data remote.jsonl
expect_in out "1 at most in an example, of unknown size"
expect_in out "1 picture behind a URL: not fetched"
# An answer that is JSON, or begins like it, is an answer.
printf 'instruction,output\nwhere?,"[{""box"": 1}]"\nwhat?,"[""not json"\n' >answers.csv
run "$PLATEAU" check-data answers.csv
expect_code 0
expect_in out "2 examples"

printf 'PAR1' >a.parquet
for what in a.parquet /dev/null /nonexistent .; do
  run "$PLATEAU" check-data "$what"
  [ "$what" = . ] || expect_code 2
  [ "$what" = . ] || expect_empty out
done
run "$PLATEAU" check-data a.parquet
expect_in err "pip install pyarrow"
expect_in err "a.parquet > a.parquet.jsonl"

# A list that breaks off costs none of the examples before it, and a broken one only itself.
cat >list.json <<'JSON'
[
{"prompt": "a", "completion": "b"},
{"prompt": "a", "completion": },
{"prompt": "c", "completion": "d"},
]
JSON
run "$PLATEAU" check-data list.json
expect_code 1
expect_in out "2 examples"
expect_in out "list.json line 3, example 2: not JSON"
expect_in out "list.json: not JSON: line 5: an example is expected behind ','"
# So does a row of CSV with a field too many.
printf 'prompt,completion\na,b\na,b,c\nd,e\n' >rows.CSV
run "$PLATEAU" check-data rows.CSV
expect_code 1
expect_in out "2 examples"
expect_in out "rows.CSV line 3: "
# Bytes beside a path, as datasets stores pictures, are the picture.
python3 - <<'PY'
import base64, json
picture = {"bytes": base64.b64encode(open("data/a.png", "rb").read()).decode(), "path": "of/another/machine.png"}
print(json.dumps({"prompt": "<image>", "completion": "a", "images": [picture]}), file=open("bytes.jsonl", "w"))
PY
run "$PLATEAU" check-data bytes.jsonl
expect_code 0
expect_in out "1 at most in an example"
