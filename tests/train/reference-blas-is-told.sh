#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# With the reference BLAS, many times slower, a run begins with a warning that names the library and
# the remedy, also with --quiet; with OpenBLAS there is none.
. "$(dirname "$0")/train_lib.sh"

directory=$(dirname "$(find /usr/lib /usr/lib64 -path '*/blas/libblas.so.3' 2>/dev/null | head -1)")
[ "$directory" != . ] || skip "no reference BLAS on this machine"
small_case 4
LD_LIBRARY_PATH=$directory train slow --max-steps 1 --batch-size 1 --gradient-accumulation-steps 1 -q
expect_code 0
expect_one_line err
expect_in err "warning: $directory/libblas"
expect_in err "libopenblas0-pthread"
if ldd "$TRAINER" | grep -q 'libblas\.so\.3' && readlink -f "$(ldd "$TRAINER" | sed -n 's/.*libblas\.so\.3 => \([^ ]*\).*/\1/p')" | grep -q openblas; then
  train fast --max-steps 1 --batch-size 1 --gradient-accumulation-steps 1 -q
  expect_code 0
  expect_empty err
fi
