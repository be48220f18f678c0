#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Attaches the tracer to busy programs and takes it out again, N times each. Each must survive, find
# its own checksums right and have no memory mapped that it did not have before.
#
#   bench/attach_torture.sh [N]     (BUILD_DIR=build/release)
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-200}
build=${BUILD_DIR:-$PWD/build/release}
plain=${NEVER_SANITIZED_DIR:-$build}
directory=$(mktemp -d /dev/shm/plateau-attach.XXXXXX)
trap 'kill $target 2>/dev/null || true; rm -rf "$directory"' EXIT

# torture NAME CMD...
torture() {
  local name=$1 left
  shift
  "$@" >"$directory.out" &
  target=$!
  until grep -qs ready "$directory.out"; do sleep 0.05; done
  echo -n "$name: "
  "$build/attach_torture" "$target" "$rounds" "$plain/libplateau_tracer.so" "$directory"
  left=$(grep -c -e libplateau_tracer -e '\.segment' "/proc/$target/maps" || true)
  [ "$left" -eq 0 ] || { echo "$name: $left mappings are left behind" >&2; exit 1; }
  kill "$target"
  local code=0
  wait "$target" || code=$?
  tail -n 1 "$directory.out"
  rm -f "$directory.out"
  [ "$code" -eq 0 ] || [ "$code" -eq 143 ] || { echo "$name: ended with $code" >&2; exit 1; }
}

torture "C++, two storms and floats, all busy" \
  "$plain/inject_target" storm storm float signals spin-main
torture "C++, with sleepers" "$plain/inject_target" storm float sleep poll epoll read semaphore
torture "Python, busy" /usr/bin/python3 -uc '
print("ready")
while True:
    table = {str(i): [i] * 10 for i in range(200)}
    text = b"".join(bytes(1000) for _ in range(20))'
