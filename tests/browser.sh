#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs one file of web/tests in a real browser: tests/browser.sh NAME.test.mjs
# BROWSER is chromium, if nothing is said, or firefox.
# Skipped (77) where npm's registry does not answer or the browser is not there.
set -euo pipefail
: "${PLATEAU:?path of the plateau binary}"
: "${SOURCE_DIR:?path of the repository}"
case ${BROWSER:=chromium} in
  firefox) program=${FIREFOX:-/usr/bin/firefox-esr} ;;
  *) program=${CHROMIUM:-/usr/bin/chromium} ;;
esac
if ! command -v "$program" >/dev/null; then
  echo "skipped: no $BROWSER; tools/setup.sh test installs it"
  exit 77
fi
export BROWSER
"$SOURCE_DIR/tools/page.sh" deps
cd "$SOURCE_DIR/web"
exec node --test --test-reporter=spec "tests/$1"
