#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The source distribution builds where it is: pip compiles it in a fresh environment, and what comes out works.
#   tests/packages/sdist.sh dist/plateau_judge-*.tar.gz [PIP-OPTIONS...]       about 5 CPU minutes
# Not a part of `make test`, which builds the same sources.
set -euo pipefail
archive=$1
shift
source=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check "$@" "$archive"
bash "$source/tests/packages/exercise.sh" "$scratch/venv/bin/plateau" "$scratch/venv/bin/python" \
  "$source/corpus/model-garden/run1.log" "$(python3 -B "$source/packaging/version.py")"
echo "the source distribution builds, and works"
