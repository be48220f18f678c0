#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Completions parse in their shell, and bash offers verbs, options, values and files.
. "$(dirname "$0")/lib.sh"

"$PLATEAU" completion bash >plateau.bash
"$PLATEAU" completion zsh >_plateau
"$PLATEAU" completion fish >plateau.fish
bash -n plateau.bash
zsh -n _plateau
fish -n plateau.fish
shellcheck -s bash plateau.bash

# offer WORDS...: what bash would offer for the last word.
offer() {
  bash -c '
    source plateau.bash
    compopt() { :; }
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _plateau
    printf "%s\n" "${COMPREPLY[@]}"' _ "$@" >offered
}
touch train.log
offer plateau ju && expect_in offered judge
offer plateau judge --exam && expect_in offered --examples
offer plateau judge --color "" && expect_in offered always
offer plateau judge --expect un && expect_in offered undecided
offer plateau judge --format "" && expect_in offered csv
offer plateau judge tr && expect_in offered train.log
offer plateau convert -o tr && expect_in offered train.log
offer plateau completion "" && expect_in offered fish

fish -c 'source plateau.fish; complete -C "plateau judge --color "' >offered
expect_in offered never
fish -c 'source plateau.fish; complete -C "plateau judge tr"' >offered
expect_in offered train.log
fish -c 'source plateau.fish; complete -C "plateau "' >offered
expect_in offered convert

zsh -fc 'autoload -Uz compinit; compinit -u -d dump; source ./_plateau; print ${_comps[plateau]}' >offered
expect_in offered _plateau

run "$PLATEAU" completion tcsh
expect_code 2
expect_one_line err
