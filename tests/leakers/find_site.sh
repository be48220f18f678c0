#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# find_site.sh NAME [MODE]: runs one row of expected.tsv under `plateau run --heap=MODE` (sampled or
# exact) and holds the first site of `plateau profile` to the row of sites.tsv, which is the same in
# both modes. Environment as for run_leaker.sh.
# shellcheck source=tests/e2e/lib.sh
. "${SOURCE_DIR:?path of the repository}/tests/e2e/lib.sh"
# shellcheck source=tests/leakers/leaker_words.sh
. "$SOURCE_DIR/tests/leakers/leaker_words.sh"
name=${1:?name of a row of sites.tsv}
mode=${2:-sampled}

row=$(row_of sites.tsv "$name")
fill_words "$(row_of expected.tsv "$name" | cut -f2)"
run "$PLATEAU" run -q "--heap=$mode" -o "$name.plateau" -- "${words[@]}"
expect_code 0
# What a row says besides is about how to look: which process, which steps.
read -ra how < <(cut -f4 <<<"$row")
run "$PLATEAU" profile "$name.plateau" --json "${how[@]}"
expect_empty err
"$python" "$leakers/check_site.py" "$row" out
