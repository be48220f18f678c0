#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/stack_more.sh: installs the frameworks of tools/stack_more.txt in a virtual environment on top of the stack's,
# and runs tests/stack/frameworks.py there. PLATEAU_PYTHON names the module's directory (build/release/python).
# Some minutes and some gigabytes, so no part of `make test`.
set -euo pipefail
cd "$(dirname "$0")"
stack=$(./stack.sh)
place=$(dirname "$(dirname "$stack")")-more
if [ ! -e "$place/complete" ]; then
  rm -rf "$place"
  /usr/bin/python3 -m venv "$place"
  # What the stack has counts as installed, so that no other torch is taken.
  packages=$("$stack" -c 'import site; print(site.getsitepackages()[0])')
  echo "$packages" >"$("$place/bin/python" -c 'import site; print(site.getsitepackages()[0])')/stack.pth"
  "$place/bin/python" -m pip install --no-input --disable-pip-version-check -c stack.txt -r stack_more.txt
  touch "$place/complete"
fi
exec env PLATEAU_PYTHON="${PLATEAU_PYTHON:-../build/release/python}" "$place/bin/python" -B ../tests/stack/frameworks.py "$@"
