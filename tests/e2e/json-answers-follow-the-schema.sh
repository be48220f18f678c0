#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every answer as JSON is what docs/formats/answer.schema.json says, by a validator that is not ours:
# all words, at the end and along the way, with and without processes, and of an empty log.
. "$(dirname "$0")/lib.sh"

/usr/bin/python3 -c 'import jsonschema' 2>/dev/null || { echo "SKIP: python3-jsonschema is not installed"; exit 77; }

{
  "$PLATEAU" judge --json "$SOURCE_DIR"/corpus/dev/*.csv.gz "$SOURCE_DIR"/corpus/own/lazy_threads-1.csv.gz || true
  "$PLATEAU" judge --json --replay --examples 663 --batch 8 --limit 32GB --total-steps 250 "$RUN1" "$RUN2" || true
  "$PLATEAU" judge --json --until-step 10 "$RUN1" || true
} >answers.jsonl
/usr/bin/python3 - "$SOURCE_DIR/docs/formats/answer.schema.json" answers.jsonl <<'PYTHON'
import json
import sys

import jsonschema

schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
answers = [json.loads(line) for line in open(sys.argv[2])]
words = {answer["verdict"] for answer in answers}
assert words == {"plateau", "warming", "leak", "undecided"}, words
for answer in answers:
    for error in validator.iter_errors(answer):
        sys.exit(f"{answer['file']}: {error.json_path}: {error.message}")
# A validator that accepts anything proves nothing.
broken = dict(answers[0], verdict="fine")
assert not validator.is_valid(broken)
print(f"{len(answers)} answers are valid")
PYTHON
# The kinds that the answers hold, with their numbers and names, are those that the handbook lists.
/usr/bin/python3 -B "$SOURCE_DIR/tools/list_findings.py" --answers answers.jsonl
