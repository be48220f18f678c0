#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes everything of a release into a directory: packaging/release.sh BUILD DIST
#   plateau_judge-V-py3-none-manylinux_2_28_x86_64.whl, plateau_judge-V.tar.gz   for pip, uv, pipx
#   plateau-V-linux-x86_64.tar.gz   the static program, to unpack anywhere
#   plateau-V.spdx.json             what is inside the archive, of which the wheel has a part; checked by the SPDX project's own validator
#   RELEASE_NOTES.md                the section of CHANGELOG.md
#   SHA256SUMS
# The bytes depend on the commit alone: packaging/reproducible.sh builds it all again elsewhere and compares.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
mkdir -p "$2"
dist=$(cd "$2" && pwd)
source=$(cd "$here/.." && pwd)
. "$source/tools/progress.sh"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$source" log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

python3 -B "$here/version.py" --check
version=$(python3 -B "$here/version.py")
find "$dist" -maxdepth 1 -type f -delete
"$here/wheel.sh" --sdist "$build" "$dist"

"$here/archive.sh" "$build" "$dist"

progress "release: checking the list of parts"
cp "$build/archive/plateau-$version-linux-x86_64/share/doc/plateau/plateau.spdx.json" "$dist/plateau-$version.spdx.json"
"$build/packaging-tools/bin/pyspdxtools" -i "$dist/plateau-$version.spdx.json" >"$build/sbom.log" 2>&1 || { cat "$build/sbom.log" >&2; exit 1; }
python3 -B "$here/version.py" --notes >"$dist/RELEASE_NOTES.md"
(cd "$dist" && find . -maxdepth 1 -type f -printf '%P\n' | LC_ALL=C sort | xargs sha256sum) >"$build/SHA256SUMS"
cp "$build/SHA256SUMS" "$dist/"
progress_end "release $version in $dist:"
cat "$dist/SHA256SUMS" >&2
