#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every sh block of a page that says so is run as it stands, page by page, in a folder with a log, a job and the
# recorded traces. A verdict is no failure; wrong usage, a missing file or command is.
. "$(dirname "$0")/lib.sh"

mkdir bin
ln -s "$PLATEAU" bin/plateau
ln -s /usr/bin/python3 bin/python
export PATH=$PWD/bin:$PATH

cat >blocks.py <<'PY'
"""blocks.py PAGE: writes the sh blocks of a page to block-1.sh, block-2.sh, ..."""
import re, sys
blocks = re.findall(r"^```sh\n(.*?)^```$", open(sys.argv[1], encoding="utf-8").read(), re.S | re.M)
for number, block in enumerate(blocks, 1):
    open(f"block-{number}.sh", "w").write(block)
PY
# 0, 1 and 3 are answers; 141 is a reader that had enough.
cat >strict.sh <<'SH'
set -E -o pipefail
trap 'code=$?; case $code in 0 | 1 | 3 | 141) ;; *) echo "exit code $code: $BASH_COMMAND" >&2; exit 99 ;; esac' ERR
SH

pages=0 blocks=0
while read -r page; do
  pages=$((pages + 1))
  mkdir "page-$pages"
  cd "page-$pages"
  ln -s "$SOURCE_DIR/corpus" corpus
  cp "$RUN2" train.log
  cp "$RUN1" short.log
  cp "$SOURCE_DIR/tests/docs/train.py" .
  python3 ../blocks.py "$page"
  for block in block-*.sh; do
    [ -e "$block" ] || fail "$page says that its sh blocks are run, and has none"
    blocks=$((blocks + 1))
    code=0
    cat ../strict.sh "$block" >strict-block
    bash strict-block >out 2>err </dev/null || code=$?
    case $code in
      0 | 1 | 3) ;;
      *) fail "$page:
$(cat "$block")
$(tail -20 err)" ;;
    esac
  done
  cd ..
done < <(grep -rl '^<!-- Every sh block of this page is run by a test. -->$' "$SOURCE_DIR/docs" | sort)
[ "$pages" -ge 3 ] || fail "only $pages pages have commands that are run"
echo "$blocks blocks of $pages pages were run"
