#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The gate of the GitHub action and of the GitLab template: runs a command or takes files, judges them, compares with a
# baseline, and leaves memory.xml (JUnit), memory.sarif, memory.svg and memory.md in a folder. What it is to do stands in
# INPUT_* (action.yml says what they mean). Exit code 0, or 1 for a leak, a change for the worse, a command that failed or an
# expectation that is not met; 2 for what could not be done.
set -euo pipefail

plateau=${PLATEAU:-plateau}
out=${INPUT_OUTPUT:-plateau-out}
command -v "$plateau" >/dev/null || { echo "plateau is not on the path; install it in an earlier step" >&2; exit 2; }
read -ra files <<<"${INPUT_FILES:-}"
read -ra options <<<"${INPUT_OPTIONS:-}"
[ -n "${INPUT_RUN:-}" ] || [ ${#files[@]} -gt 0 ] || { echo "give 'run' or 'files'" >&2; exit 2; }
mkdir -p "$out"
failed=0

# say NAME VALUE: an output of the step, where there is somebody to take it.
say() { [ -z "${GITHUB_OUTPUT:-}" ] || printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"; }

# options_of VERB: fills `taken` with those of the options that VERB has too (facts about the job, how its log is read); its help
# says which.
options_of() {
  local help word known=no
  taken=()
  help=$("$plateau" "$1" --help)
  for word in "${options[@]}"; do
    if [[ $word = -* ]]; then
      known=no
      ! grep -qE "^  (-[A-Za-z], )?${word%%=*}([ =[]|$)" <<<"$help" || known=yes
    fi
    [ $known = no ] || taken+=("$word")
  done
}

if [ -n "${INPUT_RUN:-}" ]; then
  code=0
  "$plateau" run -q -o "$out/memory.plateau" --force -- bash -c "$INPUT_RUN" || code=$?
  [ "$code" -eq 0 ] || { echo "the command failed with exit code $code" >&2; failed=1; }
  files+=("$out/memory.plateau")
fi

wanted=()
[ -z "${INPUT_EXPECT:-}" ] || wanted=(--expect "$INPUT_EXPECT")
: >"$out/memory.md"
code=0
"$plateau" judge "${files[@]}" "${options[@]}" "${wanted[@]}" --junit "$out/memory.xml" --sarif "$out/memory.sarif" \
  --summary "$out/memory.md" || code=$?
case $code in
  0) ;;
  1) failed=1 ;;
  3) [ "${INPUT_FAIL_ON_UNDECIDED:-false}" != true ] || failed=1 ;;
  *) exit 2 ;;
esac
last=${files[-1]}
options_of report
"$plateau" report "$last" "${taken[@]}" -o "$out/memory.svg" --force -q
# The first in the answer of the last run is the job's, those behind it are of its kinds of memory.
verdict=$("$plateau" judge --json "$last" "${options[@]}" "${wanted[@]}" | tail -1 | grep -o '"verdict":"[a-z]*"' | head -1 | cut -d'"' -f4) || true
say verdict "$verdict"

if [ -n "${INPUT_BASELINE:-}" ] && [ -e "$INPUT_BASELINE" ]; then
  code=0
  : >"$out/change.md"
  options_of compare
  "$plateau" compare --baseline "$INPUT_BASELINE" "${files[@]}" "${taken[@]}" --junit "$out/change.xml" \
    --summary "$out/change.md" >"$out/change.txt" || code=$?
  cat "$out/change.txt"
  [ "$code" -ne 2 ] || exit 2
  [ "$code" -ne 1 ] || failed=1
  say change "$(head -1 "$out/change.txt")"
  cat "$out/memory.md" >>"$out/change.md"
  mv "$out/change.md" "$out/memory.md"
elif [ -n "${INPUT_BASELINE:-}" ]; then
  echo "no baseline yet: $INPUT_BASELINE; 'plateau compare --write-baseline $INPUT_BASELINE $last' makes one"
fi
[ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$out/memory.md" >>"$GITHUB_STEP_SUMMARY"
exit "$failed"
