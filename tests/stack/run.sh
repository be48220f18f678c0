#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh verdicts|kinds|adapters|... ARGUMENTS: runs that script of this directory on the users' packages (STACK is their
# interpreter), verdicts-debian and kinds-debian on Debian's own torch; 77 (skipped) where they are not installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
what=$1
shift
if [ "${what%-debian}" != "$what" ]; then
  export STACK=/usr/bin/python3
  "$STACK" -c 'import torch' 2>/dev/null || { echo "skipped: tools/setup.sh stack installs python3-torch"; exit 77; }
  exec "$STACK" -B "$here/${what%-debian}.py" "$@"
fi
STACK=$("$here/../../tools/stack.sh" 2>/dev/null) || { echo "skipped: tools/setup.sh stack installs the packages"; exit 77; }
export STACK
[ "$what" = verdicts ] || exec "$STACK" -B "$here/$what.py" "$@"
exec python3 -B "$here/verdicts.py" "$@"
