#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes dist/plateau_judge-VERSION-py3-none-manylinux_2_28_x86_64.whl from what is built, and with --sdist the source
# distribution: packaging/wheel.sh [--sdist] BUILD DIST
# docs/releasing.md says how it comes that one wheel serves every CPython and every glibc since 2.28.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
sdist=no
[ "${1:-}" != --sdist ] || { sdist=yes; shift; }
build=$(cd "$1" && pwd)
dist=$(mkdir -p "$2" && cd "$2" && pwd)
source=$(cd "$here/.." && pwd)
. "$source/tools/progress.sh"
# The date inside the archives: that of the last change, so that two builds of it are the same bytes.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$source" log -1 --format=%ct 2>/dev/null || stat -c %Y "$source/CHANGELOG.md")}
export SOURCE_DATE_EPOCH

tools=$build/packaging-tools
if [ ! -x "$tools/bin/pyproject-build" ]; then
  progress "wheel: installing scikit-build-core"
  python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt" >"$build/packaging-tools.log" 2>&1 ||
    { tail -5 "$build/packaging-tools.log" >&2; exit 75; } # PyPI does not answer.
fi
"$here/stage.sh" wheel "$build" "$build/stage"

progress "wheel: packing"
log=$build/wheel.log
pack() {
  (cd "$source" && "$tools/bin/pyproject-build" --no-isolation --outdir "$dist" "$@") >"$log" 2>&1 || { tail -20 "$log" >&2; exit 1; }
}
rm -f "$dist"/plateau_judge-*.whl
pack --wheel -Ccmake.define.PLATEAU_PREBUILT="$build/stage" -Cbuild-dir="$build/wheel" -Cinstall.strip=false \
  -Cwheel.tags=py3-none-manylinux_2_28_x86_64
if [ $sdist = yes ]; then
  rm -f "$dist"/plateau_judge-*.tar.gz
  pack --sdist
fi
for file in "$dist"/plateau_judge-*; do
  progress_end "$(stat -c '%n: %s bytes' "$file")"
done
