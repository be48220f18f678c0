#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The page behind `plateau report` and `plateau serve`:
#   tools/page.sh build   type check, then write web/dist/page.html
#   tools/page.sh check   type check; is the committed file what the sources give?
#   tools/page.sh deps    install what building and testing the page need, as package-lock.json says
# Exit code 77 where npm's registry does not answer and nothing is installed yet.
set -euo pipefail
cd "$(dirname "$0")/../web"

deps() {
  cmp -s package-lock.json node_modules/.plateau-lock 2>/dev/null && return
  if ! npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2; then
    echo "page: npm cannot install the packages of web/package-lock.json" >&2
    exit 77
  fi
  cp package-lock.json node_modules/.plateau-lock
}

deps
case ${1:-build} in
  build) npx --no-install tsc --noEmit -p . && node build.mjs ;;
  check) npx --no-install tsc --noEmit -p . && node build.mjs --check ;;
  deps) ;;
  *) echo "usage: tools/page.sh build|check|deps" >&2; exit 2 ;;
esac
