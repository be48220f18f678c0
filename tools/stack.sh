#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where the virtual environment with the users' Python packages is: prints the path of its interpreter, and fails
# if it has not been made. `tools/stack.sh --install` makes it, once for each list in tools/stack.txt, outside of
# the tree: two checkouts with the same list share one.
set -euo pipefail
cd "$(dirname "$0")"
. ./progress.sh

system=/usr/bin/python3
key=$({ "$system" --version; grep -v '^#' stack.txt; } | sha256sum | cut -c1-12)
place=${PLATEAU_STACK_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/plateau}/stack-$key
python=$place/bin/python

if [ "${1:-}" != --install ]; then
  [ -e "$place/complete" ] || { echo "stack: not installed; 'tools/setup.sh stack' does it" >&2; exit 1; }
  echo "$python"
  exit 0
fi
[ ! -e "$place/complete" ] || exit 0

mkdir -p "$(dirname "$place")"
exec 9>"$place.lock"
flock 9  # Two checkouts may come at once; the second finds it made.
[ ! -e "$place/complete" ] || exit 0
rm -rf "$place"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
begin=$SECONDS
mapfile -t packages < <(grep -v '^#' stack.txt)
install() {
  "$python" -m pip install --no-input --disable-pip-version-check "$@" >>"$log" 2>&1 ||
    { progress_end "setup (stack): pip failed"; tail -20 "$log" >&2; rm -rf "$place"; exit 1; }
}
progress "setup (stack): making a virtual environment for ${#packages[@]} packages"
"$system" -m venv "$place"
progress "setup (stack): installing ${packages[0]}"
install "${packages[0]}"
progress "setup (stack): installing ${packages[*]:1}"
install "${packages[@]}"
touch "$place/complete"
progress_end "setup (stack): ${#packages[@]} packages and what they need installed in $((SECONDS - begin)) s"
