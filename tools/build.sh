#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Configures and builds one preset, or some targets of it:
#   tools/build.sh [--tests] [--trainer] [--bench] release|dev|asan|tsan|arm64 [TARGET...]
# The options add to what the directory is configured for, and it stays so: objects serve all of them.
# Progress goes to standard error, what the compilers say to standard output.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/progress.sh
# The same compilers whoever calls: CMake starts a directory anew, without its options, when they change.
export PATH=/usr/lib/ccache:$PATH
# Without these ccache keeps nothing that is compiled behind a precompiled header.
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime

options=()
while [[ "${1:-}" = --* ]]; do
  case $1 in
    --tests) options+=(BUILD_TESTING) ;;
    --trainer) options+=(PLATEAU_TRAINER) ;;
    --bench) options+=(PLATEAU_BENCH) ;;
    *) echo "usage: tools/build.sh [--tests] [--trainer] [--bench] PRESET [TARGET...]" >&2; exit 2 ;;
  esac
  shift
done
preset=${1:-release}
shift || true
# Filling the compiler's cache costs a fifth of a build. Who has none yet and builds the program alone builds it once.
if [ ${#options[@]} -eq 0 ] && [ -z "$(ls -A "${CCACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/ccache}" 2>/dev/null)" ]; then
  export CCACHE_DISABLE=1
fi
directory=build/$preset

# What is never sanitized comes from the release build; the fuzzers need none of it.
case $preset:$* in
  asan:fuzzers) ;;
  asan:* | tsan:*) "$0" --tests release never_sanitized ;;
esac

off=()
for option in "${options[@]}"; do
  grep -q "^$option:[A-Z]*=ON" "$directory/CMakeCache.txt" 2>/dev/null || off+=("-D$option=ON")
done
log=$directory/configure.log
if [ ! -f "$directory/build.ninja" ] || [ ${#off[@]} -gt 0 ]; then
  progress "build $preset: configuring"
  mkdir -p "$directory"
  how=(--preset "$preset")
  [ ! -f "$directory/build.ninja" ] || how=("$directory")
  cmake "${how[@]}" "${off[@]}" >"$log" 2>&1 || { cat "$log"; exit 1; }
  ! torch=$(grep -h '^-- LibTorch: ' "$log") || progress_end "build $preset: ${torch#-- }"
elif grep -q '^PLATEAU_UNITY:BOOL=ON' "$directory/CMakeCache.txt"; then
  python3 -B tools/unity_groups.py "$directory/unity_groups.cmake"
fi

begin=$SECONDS
follow() {
  local line done=0 all=0
  while IFS= read -r line; do
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\ (.*) ]]; then
      case ${BASH_REMATCH[3]} in
        Re-checking*) ;;
        Re-running*) progress "build $preset: configuring" ;;
        *)
          done=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
          progress "build $preset: $done of $all"
          ;;
      esac
    elif [[ $line != ninja:* && $line != "-- "* && $line != "" ]]; then
      [ ! -t 2 ] || printf '\r\033[K' >&2
      printf '%s\n' "$line"
    fi
  done
  [ "$all" -eq 0 ] || progress_end "build $preset: $done of $all done in $((SECONDS - begin)) s"
}
NINJA_STATUS='[%f/%t] ' ninja -C "$directory" "$@" | follow
