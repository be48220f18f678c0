#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh SCRIPT ARGUMENTS: a script of this directory with STACK, the interpreter that has the users' packages; 77
# (skipped) where they are not installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
STACK=$("$here/../../tools/stack.sh" 2>/dev/null) || { echo "skipped: tools/setup.sh stack installs the packages"; exit 77; }
export STACK
script=$1
shift
exec python3 -B "$here/$script" "$@"
