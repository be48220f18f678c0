#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plateau for arm64, built here by Debian's cross compiler and run under qemu's user mode:
#   tools/arm64.sh --root            makes the directory with Debian's arm64 libraries, and prints it
#   tools/arm64.sh [TARGET...]       builds targets into build/arm64; core if none is named
# The libraries stand in a directory of their own, filled by an apt with lists, cache and status of its own: the
# machine's packages stay as they are, and no root is needed.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/progress.sh

packages=(libc6-dev libstdc++-12-dev libcli11-dev libfmt-dev libsimdjson-dev libzstd-dev zlib1g-dev libdw-dev libelf-dev
  libmicrohttpd-dev libcurl4-openssl-dev libgtest-dev libgmock-dev librapidcheck-dev nlohmann-json3-dev)
home=${PLATEAU_STACK_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/plateau}
root=$home/arm64-$(printf '%s\n' "${packages[@]}" | sha256sum | cut -c1-12)

make_root() {
  [ ! -e "$root/complete" ] || return 0
  mkdir -p "$home"
  exec 9>"$root.lock"
  flock 9
  [ ! -e "$root/complete" ] || return 0
  rm -rf "$root"
  mkdir -p "$root"/apt/{state/lists,cache/archives}/partial
  : >"$root/apt/status"
  # With the machine's own sources of packages and keys.
  cat >"$root/apt/conf" <<END
Dir::State "$root/apt/state";
Dir::State::status "$root/apt/status";
Dir::Cache "$root/apt/cache";
APT::Architecture "arm64";
APT::Architectures {"arm64";};
APT::Install-Recommends "false";
APT::Sandbox::User "$(id -un)";
Acquire::Languages "none";
END
  progress "arm64: fetching libraries"
  { APT_CONFIG=$root/apt/conf apt-get -qq update &&
    APT_CONFIG=$root/apt/conf apt-get -y -qq --download-only install "${packages[@]}"; } >"$root/apt/log" 2>&1 ||
    { tail -5 "$root/apt/log" >&2; exit 1; }
  local package
  for package in "$root"/apt/cache/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
  rm -rf "$root/apt"
  touch "$root/complete"
  progress_end "arm64: libraries in $root"
}

make_root
export PLATEAU_ARM64_ROOT=$root
if [ "${1:-}" = --root ]; then
  echo "$root"
  exit
fi
tools/build.sh --tests arm64 "${@:-core}"
