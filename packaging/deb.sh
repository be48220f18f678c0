#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the Debian packages plateau, plateau-train and python3-plateau from a build, and has lintian look at them:
#   packaging/deb.sh BUILD DIST
# BUILD has plateau-train too; its programs are linked with Debian's own shared libraries, and plateau-train with the torch
# that is found where it is started (trainer/cli/launch.cc): the package brings none.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
PLATEAU_BUILD=$(cd "$1" && pwd)
dist=$(mkdir -p "$2" && cd "$2" && pwd)
PLATEAU_SOURCE=$(cd "$here/.." && pwd)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$PLATEAU_SOURCE" log -1 --format=%ct)}
export PLATEAU_BUILD PLATEAU_SOURCE SOURCE_DATE_EPOCH
. "$PLATEAU_SOURCE/tools/progress.sh"
[ -x "$PLATEAU_BUILD/plateau-train" ] || { echo "deb.sh: $PLATEAU_BUILD has no plateau-train; 'make deb' builds it" >&2; exit 2; }
version=$(python3 -B "$here/version.py")

# Who makes them answers for them: DEBFULLNAME and DEBEMAIL, or whoever made the last change.
maintainer="${DEBFULLNAME:-$(git -C "$PLATEAU_SOURCE" log -1 --format=%aN)} <${DEBEMAIL:-$(git -C "$PLATEAU_SOURCE" log -1 --format=%aE)}>"

work=$PLATEAU_BUILD/deb
tree=$work/plateau-$version
rm -rf "$work"
mkdir -p "$tree/debian/source"
cp "$here"/debian/* "$tree/debian/"
sed -i "s|@MAINTAINER@|$maintainer|" "$tree/debian/control"
cp "$PLATEAU_SOURCE/integrations/systemd/plateau-watch.service" "$tree/debian/plateau.plateau-watch.service"
echo "3.0 (native)" >"$tree/debian/source/format"
{
  echo "plateau ($version) unstable; urgency=medium"
  echo
  echo "  * Version $version: see CHANGELOG.md of the sources."
  echo
  echo " -- $maintainer  $(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")"
} >"$tree/debian/changelog"

progress "deb: packing"
(cd "$tree" && dpkg-buildpackage -b -us -uc -d) >"$work/log" 2>&1 || { tail -20 "$work/log" >&2; exit 1; }
progress "deb: lintian"
lintian --fail-on error,warning --tag-display-limit 0 "$work"/*.deb || exit 1
rm -f "$dist"/*.deb
cp "$work"/*.deb "$dist/"
for file in "$dist"/*.deb; do
  progress_end "$(stat -c '%n: %s bytes' "$file")"
done
