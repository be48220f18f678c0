#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every check that does not run the program: format, layers, drawn pages, sizes, shell scripts, includes, clang-tidy.
# All of them run even if one fails; the exit code says whether all passed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

failed=()
check() {
  local name=$1
  shift
  "$@" && return
  failed+=("$name")
  return 1
}

listed() { git ls-files -co --exclude-standard -- "$@" | while read -r file; do [ -f "$file" ] && echo "$file"; done; }

format() { listed '*.cc' '*.h' | xargs -r clang-format-19 --dry-run -Werror; }

scripts() { { listed '*.sh'; echo .ci/run; } | xargs -r shellcheck; }

# Tests are left to the compiler: GoogleTest's macros cost minutes of analysis and find nothing, and
# programs that exist to be traced do on purpose what the analysis warns of. So are the trainer's rooms
# on LibTorch, whose headers take minutes each, and what is built for arm64 alone.
analysed() {
  listed 'src/*.cc' 'tracer/*.cc' 'trainer/*.cc' |
    grep -vE '_test\.cc$|_aarch64\.cc$|^tracer/testing/|^trainer/(device|model|optim|loop)/'
}

# A command for every source by itself, new ones included.
commands() { PATH=/usr/lib/ccache:$PATH cmake --preset lint >/dev/null; }

# TIDY_CHECKS replaces the list of .clang-tidy.
tidy() {
  local checks=()
  [ -z "${TIDY_CHECKS:-}" ] || checks=("--checks=$TIDY_CHECKS")
  analysed | tools/tidy.py "${checks[@]}"
}

includes() { analysed | tools/compile_alone.py; }

check format format
check layers tools/check_layers.py
check design tools/draw_design.py --check
check findings tools/list_findings.py --check
check sizes tools/size_report.py
check scripts scripts
if check commands commands; then
  check includes includes
  check tidy tidy
fi

if [ ${#failed[@]} -gt 0 ]; then
  echo "lint: failed: ${failed[*]}" >&2
  exit 1
fi
echo "lint: clean"
