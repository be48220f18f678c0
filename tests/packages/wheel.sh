#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The wheel as users get it: made from this build, looked at, installed into fresh environments by pip, uv and pipx, and
# put to work there. SOURCE_DIR is the repository, BUILD_DIR its release build.
set -euo pipefail
: "${SOURCE_DIR:?path of the repository}" "${BUILD_DIR:?path of the release build}"
here=$(cd "$(dirname "$0")" && pwd)
SCRATCH=$(mktemp -d)
trap 'rm -rf "$SCRATCH"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
skip() {
  echo "SKIPPED: $*"
  exit 77
}

cd "$SOURCE_DIR"
# made COMMAND...: only what a registry did not give is a reason to skip, which those scripts say by exit code 75.
made() {
  local code=0
  "$@" >"$SCRATCH/log" 2>&1 || code=$?
  [ "$code" -ne 75 ] || skip "a registry does not answer: $(tail -2 "$SCRATCH/log")"
  [ "$code" -eq 0 ] || fail "$1: $(tail -20 "$SCRATCH/log")"
}
made packaging/portable/libraries.sh build/portable
tools/build.sh release core portable
made packaging/wheel.sh "$BUILD_DIR" "$SCRATCH/dist"
version=$("$BUILD_DIR/plateau" --version | cut -d' ' -f2)
wheel=$SCRATCH/dist/plateau_judge-$version-py3-none-manylinux_2_28_x86_64.whl
[ -f "$wheel" ] || fail "another name: $(ls "$SCRATCH/dist")"
size=$(stat -c %s "$wheel")
echo "the wheel has $size bytes"
[ "$size" -lt 8000000 ] || fail "more than 8 MB"
python3 "$here/check_wheel.py" "$wheel" "$version"

log=$SOURCE_DIR/corpus/model-garden/run1.log
"$here/from_nothing.sh" "$wheel" "$log" || fail "it takes too long"
python3 -m venv "$SCRATCH/pip"
"$SCRATCH/pip/bin/pip" install --quiet --no-index "$wheel"
"$SCRATCH/pip/bin/plateau" judge "$log" >"$SCRATCH/wheel.out" || [ $? -le 4 ]
"$BUILD_DIR/plateau" judge "$log" >"$SCRATCH/build.out" || [ $? -le 4 ]
cmp "$SCRATCH/wheel.out" "$SCRATCH/build.out" || fail "the wheel's program gives another answer than the build's"
pytest=
if "$SCRATCH/pip/bin/pip" install --quiet pytest >"$SCRATCH/log" 2>&1; then pytest=$SCRATCH/pip/bin/python; else echo "pytest: not at hand"; fi
"$here/exercise.sh" "$SCRATCH/pip/bin/plateau" "$SCRATCH/pip/bin/python" "$log" "$version" "$pytest"
echo "pip: works"

# uv and pipx are from PyPI; each makes the environment itself.
python3 -m venv "$SCRATCH/others"
if "$SCRATCH/others/bin/pip" install --quiet uv pipx >"$SCRATCH/log" 2>&1; then
  python=$(command -v python3)
  "$SCRATCH/others/bin/uv" venv --quiet --offline --python "$python" "$SCRATCH/uv"
  "$SCRATCH/others/bin/uv" pip install --quiet --offline --python "$SCRATCH/uv/bin/python" "$wheel"
  "$here/exercise.sh" "$SCRATCH/uv/bin/plateau" "$SCRATCH/uv/bin/python" "$log" "$version"
  echo "uv: works"
  PIPX_HOME=$SCRATCH/pipx PIPX_BIN_DIR=$SCRATCH/pipx-bin PIPX_MAN_DIR=$SCRATCH/pipx-man PIP_NO_INDEX=1 \
    "$SCRATCH/others/bin/pipx" install --quiet --python "$python" "$wheel" >"$SCRATCH/log" 2>&1 || fail "pipx: $(cat "$SCRATCH/log")"
  "$here/exercise.sh" "$SCRATCH/pipx-bin/plateau" "$SCRATCH/pipx/venvs/plateau-judge/bin/python" "$log" "$version"
  echo "pipx: works"
else
  echo "uv, pipx: not at hand"
fi
