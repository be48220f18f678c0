#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# plateau plan: the first line says whose program and which memory; lines add up; hostile models are
# one line and exit 2; --json follows its schema.
. "$(dirname "$0")/lib.sh"

mkdir model
cat >model/config.json <<'JSON'
{"model_type": "qwen2_5_vl", "hidden_size": 2048, "intermediate_size": 11008, "num_hidden_layers": 36,
 "num_attention_heads": 16, "num_key_value_heads": 2, "vocab_size": 151936, "tie_word_embeddings": true,
 "torch_dtype": "bfloat16",
 "vision_config": {"depth": 32, "hidden_size": 1280, "intermediate_size": 3420, "num_heads": 16, "patch_size": 14,
 "spatial_merge_size": 2, "temporal_patch_size": 2, "out_hidden_size": 2048}}
JSON

run "$PLATEAU" plan model --for trl --method qlora --tokens 4096 --picture 1024x768 --workers 4 --explain --fit 24GB
expect_code 0
expect_empty err
[ "$(head -1 out)" = "TRL's SFTTrainer on a GPU: GPU memory and host RAM, planned" ] ||
  fail "first line: $(head -1 out)"
expect_in out "3,754,622,976 parameters (from config.json)"
expect_in out "FITS 24.0 GB of GPU memory"
expect_in out "prefetched"

run "$PLATEAU" plan model --device cuda --tokens 4096 --batch 8 --fit 24GB
expect_code 1
expect_in out "DOES NOT FIT 24.0 GB"
expect_in out "gradient_checkpointing=True"

# -d takes the real sizes.
python3 - <<'PY'
import struct, zlib
def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
open("a.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1000, 1000, 8, 2, 0, 0, 0))
                          + chunk(b"IDAT", zlib.compress(bytes(3001 * 1000))) + chunk(b"IEND", b""))
PY
for i in 1 2 3; do
  echo '{"messages": [{"role": "user", "content": "<image>what is '$i'?"}, {"role": "assistant", "content": "a cat"}], "images": ["a.png"]}'
done >train.jsonl
run "$PLATEAU" plan model -d train.jsonl --json --fit 24GB
expect_code 1
cp out plan.json
python3 - <<'PY'
import json
plan = json.load(open("plan.json"))
assert plan["setup"]["patches"] == 5184 and plan["setup"]["examples"] == 3, plan["setup"]
assert plan["setup"]["tokens"] > 1296, plan["setup"]
for side in (plan["host"], plan["gpu"]):
    total = sum(line["bytes"] for line in side["lines"])
    assert abs(total - side["peak_bytes"]) < 10 or side["moment"] == "while a checkpoint is written", side
PY
if /usr/bin/python3 -c 'import jsonschema' 2>/dev/null; then
  /usr/bin/python3 -c 'import json, sys, jsonschema
jsonschema.Draft202012Validator(json.load(open(sys.argv[1]))).validate(json.load(open("plan.json")))' \
    "$SOURCE_DIR/docs/formats/plan.schema.json" || fail "the schema does not hold"
fi

# Hostile models: one line, exit 2.
hostile() {
  run "$PLATEAU" plan "$@"
  expect_code 2
  expect_empty out
  [ "$(wc -l <err)" -le 2 ] || fail "more than a line: $(cat err)"
}
echo '{"num_hidden_layers": 1e300}' >a.json && hostile a.json
expect_in err "a.json: \"num_hidden_layers\" must be a whole number"
echo '{"num_hidden_layers": NaN}' >b.json && hostile b.json
echo '[]' >c.json && hostile c.json
: >d.json && hostile d.json
truncate -s 1G big.json && hostile big.json
expect_in err "more than 16 MB"
mkfifo pipe.json && hostile pipe.json
hostile /nonexistent
hostile model --picture huge
hostile model --tokens 100 --picture 2000x2000
expect_in err "fewer than the pictures"
printf '\377\377\377\377\377\377\377\377{}' >model/model.safetensors && hostile model
