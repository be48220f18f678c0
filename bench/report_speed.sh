#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How long `plateau report` takes for a day of a job with 21 processes, and how large the page gets:
#
#   bench/report_speed.sh [N]     (BUILD_DIR=build/release; N runs, the fastest counts)
#
# The targets are 2 s, a page of 1 MB without its data, and 2 s until Chromium has drawn it, which is
# measured where the page's packages are installed (tools/page.sh deps).
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-5}
build=${BUILD_DIR:-$PWD/build/release}
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

"$build/recording_size" "$directory/day.plateau" >/dev/null
best=""
for ((i = 0; i < runs; i++)); do
  TIMEFORMAT='%R %U'
  took=$({ time "$build/plateau" report -q "$directory/day.plateau" -o "$directory/day.html" --force; } 2>&1)
  [ -n "$best" ] && [ "$(printf '%s\n%s\n' "$best" "$took" | sort -n | head -1)" = "$best" ] || best=$took
done
data=$(sed -n 's/.*id="plateau-data">\([^<]*\)<.*/\1/p' "$directory/day.html")
page=$(stat -c %s "$directory/day.html")
echo "recording $(stat -c %s "$directory/day.plateau") bytes, 86,400 samples of 21 processes"
echo "report    ${best% *} s (${best#* } s of CPU), the fastest of $runs"
echo "page      $((page - ${#data})) bytes without its data"
echo "data      ${#data} bytes packed, $(base64 -d <<<"$data" | gzip -dc | wc -c) plain"
if [ -d web/node_modules ]; then node bench/open_page.mjs "$directory/day.html" "$runs"; fi
