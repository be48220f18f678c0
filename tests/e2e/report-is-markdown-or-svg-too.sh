#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `plateau report --as md` and `--as svg`: by the option or by the name, with the answer of judge, well-formed, and with names
# from logs as text.
. "$(dirname "$0")/lib.sh"

cp "$RUN2" '<script>&.log'
run "$PLATEAU" report '<script>&.log' -o chart.svg --examples 663 --batch 8
expect_code 0
expect_one_line err
/usr/bin/python3 - <<'PY' || fail "the chart is not what it should be"
import xml.etree.ElementTree as tree
text = open("chart.svg", encoding="utf-8").read()
root = tree.fromstring(text)
words = " ".join("".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text"))
assert "PLATEAU no leak" in words and "<script>&.log" in words and "epoch 1 ends" in words and "step" in words, words
assert "<script" not in text and "href" not in text and "http" not in text.replace("http://www.w3.org/2000/svg", "")
PY
run "$PLATEAU" report "$RUN2" --as md --examples 663 --batch 8 --chart beside.svg
expect_code 0
expect_empty err
expect_in out "## PLATEAU: no leak"
expect_in out "](<beside.svg>)"
expect_in out "per-example cache"
[ -s beside.svg ] || fail "no chart beside the Markdown"
"$PLATEAU" judge "$RUN2" --examples 663 --batch 8 >judged
awk '/^```text$/ {on = 1; next} /^```$/ {on = 0} on' out | diff - judged || fail "the folded report is not judge's"

# Two files: what changed, then each; a chart shows one.
leak_log 60 >leak.log
flat_log 60 >flat.log
run "$PLATEAU" report leak.log flat.log --as md
expect_code 0
expect_in out "## BETTER"
expect_in out "| growth now |"
run "$PLATEAU" report leak.log flat.log --as svg
expect_code 2
expect_in err "a chart shows one run"
run "$PLATEAU" report "$RUN2" --as svg --chart x.svg
expect_code 2
run "$PLATEAU" report "$RUN2" -o chart.svg
expect_code 2
expect_in err "chart.svg exists; --force replaces it"

# Under the ending of a picture or a document that it cannot be, nothing is written, unless that is asked for.
for name in chart.png report.PDF answer.json; do
  run "$PLATEAU" report "$RUN2" -o "$name"
  expect_code 2
  expect_one_line err
  expect_in err "a report is .html, .md or .svg, not ."
  [ ! -e "$name" ] || fail "$name was written"
done
run "$PLATEAU" report "$RUN2" -o answer.txt --as md
expect_code 0
expect_in answer.txt "## PLATEAU: no leak"
