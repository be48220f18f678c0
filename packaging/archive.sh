#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the archive to unpack anywhere, from what is built: packaging/archive.sh BUILD DIST
#   plateau-V-linux-x86_64.tar.gz
# docs/releasing.md says what its static program can do, and what bin/plateau-glibc beside it is for.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
dist=$(mkdir -p "$2" && cd "$2" && pwd)
. "$here/../tools/progress.sh"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$here/.." log -1 --format=%ct 2>/dev/null || stat -c %Y "$here/../CHANGELOG.md")}
export SOURCE_DATE_EPOCH

progress "archive: packing"
name=plateau-$("$build/plateau" --version | cut -d' ' -f2)-linux-x86_64
rm -rf "$build/archive"
mkdir -p "$build/archive"
"$here/stage.sh" archive "$build" "$build/archive/$name"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --format=gnu -C "$build/archive" -cf - "$name" |
  gzip -n -9 >"$dist/$name.tar.gz"
progress_end "$(stat -c '%n: %s bytes' "$dist/$name.tar.gz")"
