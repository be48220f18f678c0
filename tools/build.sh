#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Configures and builds one preset: tools/build.sh release|dev|bench|asan|tsan|fuzz
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
[ -f "build/$preset/build.ninja" ] || cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset" | { grep -vE '^\[[0-9]+/[0-9]+\]|^ninja: no work' || true; }
