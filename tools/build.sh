#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Configures and builds one preset, or some targets of it:
#   tools/build.sh release|dev|bench|asan|tsan [TARGET...]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
[ -f "build/$preset/build.ninja" ] || cmake --preset "$preset" >/dev/null
shift || true
cmake --build --preset "$preset" ${1:+--target "$@"} | { grep -vE '^\[[0-9]+/[0-9]+\]|^ninja: no work' || true; }
