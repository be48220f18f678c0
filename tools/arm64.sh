#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Plateau for arm64, built here by Debian's cross compiler and run under qemu's user mode:
#   tools/arm64.sh --root            makes the directory with Debian's arm64 libraries, and prints it
#   tools/arm64.sh --test            builds it with some tests, runs those, and holds its answers to those of build/release
#   tools/arm64.sh [TARGET...]       builds targets into build/arm64; core if none is named
# The libraries stand in a directory of their own, filled by an apt with lists, cache and status of its own: the
# machine's packages stay as they are, and no root is needed. docs/releasing.md says what is run so, and what cannot be.
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
if [ "${1:-}" != --test ]; then
  tools/build.sh --tests arm64 "${@:-core}"
  exit
fi

# What needs no ptrace, no second program of that processor, and no hour to compile.
tests=(base recording ptrace)
tools/build.sh --tests arm64 core "${tests[@]/%/_test}"
emulated=(qemu-aarch64 -L "$root")
for name in "${tests[@]}"; do
  filter='*'
  # The kernel's side of ptrace is not emulated: what the tests read of /proc is.
  [ "$name" != ptrace ] || filter='-StoppedProcess*:RemoteMemory*'
  progress "arm64: $name"
  "${emulated[@]}" "build/arm64/${name}_test" --gtest_brief=1 --gtest_filter="$filter" >build/arm64/test.log 2>&1 ||
    { tail -30 build/arm64/test.log >&2; echo "arm64: $name failed" >&2; exit 1; }
  progress_end "arm64: $name: $(tail -1 build/arm64/test.log)"
done

# The same logs, the same answers: words and whole numbers exactly, others to nine digits, because that processor's C library
# rounds exponentials another way.
same() {
  python3 - build/arm64/here build/arm64/there <<'END'
import re, sys
NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")
here, there = (open(name, encoding="utf-8", errors="replace").read() for name in sys.argv[1:])
close = lambda a, b: abs(float(a) - float(b)) <= 1e-9 * max(abs(float(a)), abs(float(b)))
pairs = list(zip(NUMBER.findall(here), NUMBER.findall(there), strict=True))
sys.exit(NUMBER.sub("#", here) != NUMBER.sub("#", there) or not all(close(a, b) for a, b in pairs))
END
}
count=0
for log in corpus/model-garden/*.log tests/fixtures/forms/*.txt tests/fixtures/logs/*.log; do
  build/release/plateau judge --json "$log" >build/arm64/here 2>&1 || true
  "${emulated[@]}" build/arm64/plateau judge --json "$log" >build/arm64/there 2>&1 || true
  same || { echo "arm64: another answer to $log" >&2; exit 1; }
  count=$((count + 1))
  progress "arm64: $count logs"
done
progress_end "arm64: the same answers to $count logs"

# It watches a job, here one of this machine's own programs, and the tracer is loaded into a program of that processor.
"${emulated[@]}" build/arm64/plateau run -q --no-recording -- true
"${emulated[@]}" -E LD_PRELOAD="$PWD/build/arm64/libplateau_tracer.so" build/arm64/plateau --version >/dev/null
"${emulated[@]}" build/arm64/plateau doctor | grep -q 'attach *missing' || { echo "arm64: doctor offers to attach" >&2; exit 1; }
progress_end "arm64: done"
