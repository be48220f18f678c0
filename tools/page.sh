#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The page behind `plateau report` and `plateau serve`:
#   tools/page.sh build   type check, then write web/dist/page.html
#   tools/page.sh check   type check; is the committed file what the sources give?
#   tools/page.sh deps    install what building and testing the page need, as package-lock.json says
# Exit code 77 where the packages are not installed yet and npm's registry does not answer.
set -euo pipefail
cd "$(dirname "$0")/../web"

installed() { cmp -s package-lock.json node_modules/.plateau-lock; }

deps() {
  installed && return
  # Tests that run side by side install once.
  exec 9>.install-lock
  flock 9
  installed && return
  if ! npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2; then
    npm ping >/dev/null 2>&1 && { echo "page: npm cannot install web/package-lock.json" >&2; exit 1; }
    echo "page: skipped, npm's registry does not answer" >&2
    exit 77
  fi
  cp package-lock.json node_modules/.plateau-lock
  exec 9>&-
}

deps
case ${1:-build} in
  build) npx --no-install tsc --noEmit -p . && node build.mjs ;;
  check) npx --no-install tsc --noEmit -p . && node build.mjs --check ;;
  deps) ;;
  *) echo "usage: tools/page.sh build|check|deps" >&2; exit 2 ;;
esac
