#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs one file of web/tests in a real Chromium: tests/browser.sh NAME.test.mjs
# Skipped (77) where npm's registry does not answer or there is no Chromium.
set -euo pipefail
: "${PLATEAU:?path of the plateau binary}"
: "${SOURCE_DIR:?path of the repository}"
if ! command -v "${CHROMIUM:-/usr/bin/chromium}" >/dev/null; then
  echo "skipped: no Chromium; tools/setup.sh installs it"
  exit 77
fi
"$SOURCE_DIR/tools/page.sh" deps
cd "$SOURCE_DIR/web"
exec node --test --test-reporter=spec "tests/$1"
