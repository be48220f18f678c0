#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A file without memory figures, a binary, an empty file, a directory, a missing file: one line each.
. "$(dirname "$0")/lib.sh"

printf 'hello\nthere is nothing here\n' >prose.txt
head -c 5000 "$PLATEAU" >binary.bin
: >empty.log
mkdir directory
printf '\037\213\010\000garbage' >broken.gz

for file in prose.txt binary.bin empty.log directory broken.gz missing.log; do
  for verb in judge convert; do
    run "$PLATEAU" "$verb" "$file"
    expect_code 2
    expect_empty out
    expect_one_line err
    expect_in err "$file"
    expect_harmless err
  done
done
run "$PLATEAU" judge "$RUN2" --until-step 0
expect_code 2
expect_one_line err
