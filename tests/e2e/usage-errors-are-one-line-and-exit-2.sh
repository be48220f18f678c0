#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whatever is wrong with the command line: exit 2, nothing on stdout, one line that says what to try.
. "$(dirname "$0")/lib.sh"

wrong() {
  run "$PLATEAU" "$@" </dev/null
  expect_code 2
  expect_empty out
  expect_one_line err
  expect_in err "; try 'plateau"
}

wrong
wrong jugde run.log
expect_in err "did you mean 'judge'?"
wrong --verison
expect_in err "did you mean '--version'?"
wrong judge --exmples 3 "$RUN2"
expect_in err "did you mean '--examples'?"
wrong judge --examples many "$RUN2"
expect_in err "plateau judge: --examples"
wrong judge --examples -3 "$RUN2"
wrong judge --examples
wrong judge --limit 20parsecs "$RUN2"
wrong judge --expect lek "$RUN2"
expect_in err "did you mean 'leak'?"
wrong judge --format cvs "$RUN2"
wrong judge --until-time soon "$RUN2"
wrong judge --every "$RUN2"
wrong completion
wrong completion bash zsh
wrong man page
wrong help jugde

# Cut down to the kernel's 32 bits this would be process 1.
wrong watch 4294967297
wrong try 4294967297 trim
wrong watch 99999999999999999999

# The verb left out is the commonest slip.
wrong "$RUN2"
expect_in err "did you mean 'plateau judge"
