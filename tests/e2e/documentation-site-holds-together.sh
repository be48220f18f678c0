#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The site is built from docs/ by the program itself; every link and anchor of it leads somewhere, nothing is
# loaded from elsewhere, every option of the program has a place in the reference, and every cause a picture.
. "$(dirname "$0")/lib.sh"

/usr/bin/python3 -c 'import markdown' 2>/dev/null || skip "python3-markdown is not installed"
/usr/bin/python3 -B "$SOURCE_DIR/tools/site.py" --plateau "$PLATEAU" --out "$PWD/site" >built || fail "the site is not built"
python3 "$SOURCE_DIR/tools/check_site.py" site || fail "the site does not hold together"

for page in index first-answer is-it-a-leak verdicts causes recipes reference accuracy security formats/import; do
  [ -s "site/$page.html" ] || fail "no page $page"
done
# The reference has every option of every verb, under an address of its own; `train` is a verb of plateau-train.
verbs=$("$PLATEAU" --help | sed -nE 's/^  ([a-z-]+) {2,}[^ ].*/\1/p' | grep -vx train)
for verb in judge run watch plan fleet doctor; do
  grep -qx "$verb" <<<"$verbs" || fail "$verb is not among the verbs: $verbs"
done
for verb in $verbs; do
  expect_in site/reference.html "<h2 id=\"$verb\">"
  "$PLATEAU" "$verb" --help | sed -nE 's/^  (-[A-Za-z], )?(--[a-z0-9-]+).*/\2/p' | sort -u >options
  while read -r option; do
    expect_in site/reference.html "id=\"$verb$option\""
  done <options
done
[ "$("$PLATEAU" judge --help | grep -c '^  .*--')" -gt 10 ] || fail "judge has no options"
# A cause without a picture is one that no recorded trace shows; the page says so.
grep -oE '^## [a-z-]+$' "$SOURCE_DIR/docs/causes.md" | cut -c4- >causes
python3 - <<'PY' || fail "a cause has neither a picture nor a word about why"
import re
page = open("site/causes.html", encoding="utf-8").read()
parts = dict(re.findall(r'<h2 id="([a-z-]+)">.*?</h2>(.*?)(?=<h2 |\Z)', page, re.S))
for cause in open("causes").read().split():
    assert "<svg" in parts[cause] or "No recorded trace" in parts[cause], cause
PY
# The picture below a verdict word is one that got this word.
python3 - <<'PY' || fail "a verdict word has the picture of another"
import re
page = open("site/verdicts.html", encoding="utf-8").read()
parts = dict(re.findall(r'<h2 id="([a-z-]+)">.*?</h2>(.*?)(?=<h2 |\Z)', page, re.S))
for word in ("plateau", "warming", "leak", "undecided"):
    assert f'<tspan class="{word}">{word.upper()}</tspan>' in parts[word], word
PY

# In a real browser the search finds a section, from disk.
if command -v chromium >/dev/null; then
  timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --user-data-dir="$PWD/browser" --virtual-time-budget=5000 --dump-dom \
    "file://$PWD/site/index.html?q=copy-on-write" >dom 2>/dev/null || fail "the browser cannot show the page"
  grep -qE 'id="found"><a href="[^"]*causes.html#copy-on-write"' dom || fail "the search does not find a cause"
fi

# A link that leads nowhere is found, and so is a script from elsewhere.
cp -r site broken
sed -i 's|</main>|<a href="nowhere.html">x</a><a href="#nowhere">x</a><img src="https://example.org/x.png"></main>|' broken/causes.html
run python3 "$SOURCE_DIR/tools/check_site.py" broken
expect_code 1
expect_in out "causes.html: nowhere.html leads to no file"
expect_in out "causes.html: #nowhere leads to no such place"
expect_in out "causes.html: img is loaded from https://example.org/x.png"
