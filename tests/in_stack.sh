#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a test with the Python packages that users train with: in_stack.sh PYTHON-ARGUMENTS... Skipped (77) where
# they have not been installed.
set -euo pipefail
python=$("$(dirname "$0")/../tools/stack.sh") || exit 77
exec "$python" -B "$@"
