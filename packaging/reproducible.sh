#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Proves that a release depends on its commit alone: takes the commit's files to a directory of another name, builds
# everything there again without a compiler cache, and compares every byte with DIST, which `make release` left.
#   packaging/reproducible.sh DIST [SCRATCH]       about 10 CPU minutes
# What must be the same on both sides is the toolchain: the packages of tools/setup.sh at their versions.
set -euo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
dist=$(cd "$1" && pwd)
scratch=${2:-$(mktemp -d)}
mkdir -p "$scratch"
[ -z "$(git -C "$source" status --porcelain)" ] || { echo "reproducible.sh: there are changes that are not committed" >&2; exit 2; }
SOURCE_DATE_EPOCH=$(git -C "$source" log -1 --format=%ct)
export SOURCE_DATE_EPOCH CCACHE_DISABLE=1
again=$scratch/somewhere-else/with-a-longer-name
rm -rf "$again"
mkdir -p "$again"
git -C "$source" archive HEAD | tar -x -C "$again"
cd "$again"
packaging/portable/libraries.sh build/portable
tools/build.sh release core portable
packaging/release.sh build/release dist
if diff "$dist/SHA256SUMS" dist/SHA256SUMS; then
  echo "the same bytes: $(wc -l <dist/SHA256SUMS) files"
  rm -rf "$again"
else
  echo "reproducible.sh: the builds differ; the second one is $again" >&2
  exit 1
fi
