#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh verdicts|kinds|kinds-debian|adapters|... ARGUMENTS: runs that script of this directory on the users' packages (STACK is
# their interpreter), kinds-debian on Debian's own torch; 77 (skipped) where they are not installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
what=$1
shift
if [ "$what" = kinds-debian ]; then
  /usr/bin/python3 -c 'import torch' 2>/dev/null || { echo "skipped: python3-torch is not installed"; exit 77; }
  exec /usr/bin/python3 -B "$here/kinds.py" "$@"
fi
STACK=$("$here/../../tools/stack.sh" 2>/dev/null) || { echo "skipped: tools/setup.sh stack installs the packages"; exit 77; }
export STACK
[ "$what" = verdicts ] || exec "$STACK" -B "$here/$what.py" "$@"
exec python3 -B "$here/verdicts.py" "$@"
