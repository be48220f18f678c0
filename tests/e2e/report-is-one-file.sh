#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `plateau report` writes one page that needs no network, holds judge's verdict, and never takes the
# place of another file unasked.
. "$(dirname "$0")/lib.sh"

cp "$RUN2" '<script>.log'
run "$PLATEAU" report '<script>.log' -o page.html --examples 663 --batch 8
expect_code 0
expect_empty out
expect_one_line err
expect_in err "page.html: "
expect_in err ", plateau 97"
"$PLATEAU" judge --json '<script>.log' --examples 663 --batch 8 >judge.json || true
"$PLATEAU" judge '<script>.log' --examples 663 --batch 8 >judge.txt || true

cat >unpack.py <<'PY'
import base64, gzip, html.parser, json, re, sys

text = open(sys.argv[1], encoding="utf-8").read()

class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.stack, self.data, self.plain, self.title, self.scripts = [], "", "", "", 0
    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        for name in ("src", "href", "srcset", "action"):
            value = attrs.get(name) or ""
            assert not value or value.startswith(("data:", "#")), (tag, name, value)
        assert not any(name.startswith("on") for name in attrs), attrs
        self.scripts += tag == "script" and "type" not in attrs
        if tag not in ("meta", "link"):
            self.stack.append((tag, attrs.get("id")))
    def handle_endtag(self, tag):
        while self.stack and self.stack.pop()[0] != tag:
            pass
    def handle_data(self, data):
        if not self.stack:
            return
        if self.stack[-1] == ("script", "plateau-data"):
            self.data += data
        elif self.stack[-1][0] == "pre":
            self.plain += data
        elif self.stack[-1][0] == "title":
            self.title += data

page = Page()
page.feed(text)
assert page.scripts == 1, f"{page.scripts} scripts that run"
assert "default-src 'none'" in text
assert "@import" not in text and not re.search(r"url\(\s*['\"]?https?:", text)
document = json.loads(gzip.decompress(base64.b64decode(page.data)))
json.dump({"document": document, "plain": page.plain, "title": page.title}, open("unpacked.json", "w"))
PY
python3 unpack.py page.html || fail "the page is not what it should be"
python3 - <<'PY' || fail "the page does not say what judge says"
import json
unpacked = json.load(open("unpacked.json"))
run, = unpacked["document"]["runs"]
assert run["verdict"] == json.load(open("judge.json")), "another verdict"
assert run["said"]["text"] == open("judge.txt").read(), "another report"
assert unpacked["plain"] == run["said"]["text"]
assert run["source"] == "<script>.log" and unpacked["title"].startswith("<script>.log: ")
assert run["lines"][0]["judged"] and len(run["lines"][0]["mb"]) == len(run["x"]) == run["samples"]["taken"]
assert run["replay"][-1]["verdict"] == "plateau" and run["knew_at"] is not None
PY

# Once written, it stays, unless one asks.
cp page.html before.html
run "$PLATEAU" report "$RUN1" -o page.html
expect_code 2
expect_one_line err
expect_in err "page.html exists; --force replaces it"
cmp page.html before.html || fail "the page was overwritten"
run "$PLATEAU" report "$RUN1" -o page.html --force -q
expect_code 0
expect_empty err
cmp -s page.html before.html && fail "--force did not replace the page"

# The same bytes again, to a pipe as well as to a file; and never to a terminal.
"$PLATEAU" report -q "$RUN1" | cmp - page.html || fail "the pipe got other bytes"
run script -qec "$PLATEAU report $RUN1" /dev/null
grep -q "is no use on a terminal" out || fail "a page was written to a terminal"

# Several runs are compared; of one file its last run counts, unless all are wanted.
run "$PLATEAU" report "$RUN1" "$RUN2" -o both.html
expect_code 0
python3 unpack.py both.html || fail "the comparison is not what it should be"
python3 - <<'PY' || fail "two files are not compared"
import json
document = json.load(open("unpacked.json"))["document"]
assert len(document["runs"]) == 2 and len(document["comparison"]["sides"]) == 2
PY
cat "$RUN1" "$RUN2" >two.log
run "$PLATEAU" report two.log -o last.html
expect_code 0
run "$PLATEAU" report --all-runs two.log -o all.html
expect_code 0
for page in last:1 all:2; do
  python3 unpack.py "${page%:*}.html"
  python3 -c "import json; assert len(json.load(open('unpacked.json'))['document']['runs']) == ${page#*:}" ||
    fail "not ${page#*:} runs in ${page%:*}.html"
done

# What cannot be read, and a file without samples, are one line; nothing is left behind.
echo "nothing to see" >words.log
for bad in words.log no-such-file; do
  run "$PLATEAU" report "$bad" -o bad.html
  expect_code 2
  expect_one_line err
  expect_empty out
  [ ! -e bad.html ] || fail "a page of nothing was written"
done
run "$PLATEAU" report "$RUN2" -o no/such/folder.html
expect_code 2
expect_one_line err
run "$PLATEAU" report --all-runs "$RUN1" "$RUN2" -o x.html
expect_code 2
expect_in err "; try 'plateau report --help'"
