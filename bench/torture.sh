#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the torture program N times under the tracer, in turn sampled finely, sampled as usual and
# exact, with each allocator that is installed, and compares what it prints with what it prints
# without the tracer. Stops at the first difference, crash or hang.
#
#   bench/torture.sh [N]     (BUILD_DIR=build/release)
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-200}
build=${BUILD_DIR:-$PWD/build/release}
targets=$build/tracer_targets
directory=$(mktemp -d /dev/shm/plateau-torture.XXXXXX)
trap 'rm -rf "$directory"' EXIT

modes=(sampled:4096 exact:0 sampled:524288)
allocators=("")
for name in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2; do
  path=$(/sbin/ldconfig -p | awk -v name="$name" '$1 == name && !seen++ { print $NF }')
  [ -z "$path" ] || allocators+=("$path")
done

torture() { timeout 120 env "$@" "$targets/torture" "$targets/torture_plugin.so" 12; }

expected=$(torture A=)
for ((i = 0; i < runs; i++)); do
  mode=${modes[i % ${#modes[@]}]}
  # Every other run with glibc, which nearly all programs use.
  allocator=""
  ((i % 2 == 0)) || allocator=${allocators[i / 2 % ${#allocators[@]}]}
  status=0
  printed=$(torture PLATEAU_HEAP="$directory:$mode" \
    LD_PRELOAD="$build/libplateau_tracer.so${allocator:+:$allocator}") || status=$?
  rm -f "$directory"/*
  if [ "$status" -ne 0 ] || [ "$printed" != "$expected" ]; then
    echo "run $i, $mode, ${allocator:-glibc}: exit status $status"
    diff <(echo "$expected") <(echo "$printed") || true
    exit 1
  fi
done
echo "$runs runs, all alike"
