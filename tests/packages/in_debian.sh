#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is shipped into a clean Debian and puts it to work there, as an ordinary user. As root, for chroot:
#   tests/packages/in_debian.sh bookworm dist/deb/*.deb          the packages, by apt with all that they need (2 min)
#   tests/packages/in_debian.sh bullseye dist/plateau-*.tar.gz   the archive, on glibc 2.31 (1 min)
#   tests/packages/in_debian.sh bullseye dist/*.whl              the wheel, by that Debian's own pip
# Not a part of `make test`: it downloads a Debian. DEBIAN_TREES names a directory that keeps the clean ones for the next time.
set -euo pipefail
[ "$(id -u)" -eq 0 ] || { echo "in_debian.sh: root is needed, for chroot" >&2; exit 2; }
# What is mounted here is nobody else's, and goes away with this script.
[ -n "${PLATEAU_IN_DEBIAN:-}" ] || exec env PLATEAU_IN_DEBIAN=1 unshare --mount "$BASH" "$0" "$@"
suite=$1
shift
source=$(cd "$(dirname "$0")/../.." && pwd)
root=$(mktemp -d)
# An ordinary user works in it.
chmod 755 "$root"
finish() {
  umount -l "$root/proc" "$root/dev/shm" "$root/dev" 2>/dev/null || true
  rm -rf --one-file-system "$root"
}
trap finish EXIT

# The machine's own mirror of Debian.
mirror=$(sed -n 's/^URIs: *//p; s/^deb [^h]*\(http[^ ]*\).*/\1/p' /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null |
  grep -m1 '/debian/*$' || true)
echo "a clean $suite"
kept=${DEBIAN_TREES:+$DEBIAN_TREES/$suite}
if [ -n "$kept" ] && [ -d "$kept" ]; then
  cp -a "$kept/." "$root/"
else
  debootstrap --variant=minbase --include=python3,python3-pip "$suite" "$root" "$mirror" >"$root.log" 2>&1 || { tail -5 "$root.log" >&2; exit 1; }
  rm -f "$root.log"
  [ -z "$kept" ] || { mkdir -p "$kept" && cp -a "$root/." "$kept/"; }
fi
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/dev/shm"
inside() { chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root "$@"; }
mkdir "$root/given"
cp "$@" "$source/tests/packages/exercise.sh" "$source/corpus/model-garden/run1.log" "$root/given/"

plateau=plateau
case $1 in
  *.deb)
    inside sh -c 'apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install /given/*.deb' >"$root/given/log" 2>&1 ||
      { tail -20 "$root/given/log" >&2; exit 1; }
    inside dpkg -V plateau
    for file in /lib/systemd/system/plateau-watch.service /usr/share/man/man1/plateau.1.gz \
      /usr/share/bash-completion/completions/plateau; do
      [ -e "$root$file" ] || { echo "FAILED: $file is missing" >&2; exit 1; }
    done
    if inside dpkg -s plateau-train >/dev/null 2>&1; then
      # Without a torch: one line that says what to do.
      said=$(inside plateau-train --version 2>&1) && code=0 || code=$?
      [[ "$code $said" = "2 plateau-train: needs torch "*"pip install torch=="* ]] ||
        { echo "FAILED: plateau-train without torch: exit $code, $said" >&2; exit 1; }
    fi
    ;;
  *.whl) inside sh -c 'pip3 install --no-index /given/*.whl' >/dev/null ;;
  *.tar.gz)
    inside tar -C /opt -xf "/given/${1##*/}"
    plateau=$(find "$root/opt" -path '*/bin/plateau' -printf '/opt/%P\n')
    # The archive brings no client: the job imports it from the module's folder, as one file.
    inside sh -c 'mkdir /client && cp /opt/*/lib/plateau/python/plateau_auto/client.py /client/plateau.py'
    ;;
esac
inside useradd -m somebody
version=$(python3 -B "$source/packaging/version.py")
chroot --userspec=somebody "$root" env -i PATH=/usr/local/bin:/usr/bin:/bin LC_ALL=C.UTF-8 HOME=/home/somebody PYTHONPATH="$([ ! -d "$root/client" ] || echo /client)" \
  bash /given/exercise.sh "$plateau" python3 /given/run1.log "$version"
echo "$suite ($(inside ldd --version | head -1 | grep -oE '[0-9.]+$'), $(inside python3 --version)): works, as an ordinary user"
